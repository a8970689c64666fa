#include "datasets/image_tables.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <sched.h>

#include "datasets/cache.h"
#include "datasets/image/resize.h"
#include "datasets/image_options.h"
#include "datasets/moved_copies.h"
#include "datasets/own/own_files.h"
#include "harness/models/model.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::int64_t kChannels = 3;
// Images in memory at once, before and after they are resized.
constexpr std::size_t kMostAtOnce = 256;
constexpr std::size_t kMostBytesAtOnce = std::size_t{1} << 27;
// A copy is moved by up to an eighth of the side each way, as 4 of 32 pixels.
constexpr std::int64_t kShiftsInASide = 8;

// All processors while the object lives, since the runs on these data wait for the features.
class AllThreads {
 public:
  AllThreads() : before_(at::get_num_threads()) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) at::set_num_threads(CPU_COUNT(&allowed));
  }
  ~AllThreads() { at::set_num_threads(before_); }
  AllThreads(const AllThreads&) = delete;
  AllThreads& operator=(const AllThreads&) = delete;

 private:
  int before_;
};

// The image as [3, side, side] bytes.
Result<void> prepare(const Image& image, const ImageOptions& options, std::uint8_t* planes) {
  const auto side = options.side;
  const Image* square = &image;
  Image made;
  if (image.height != side || image.width != side) {
    auto resized = resize_shorter(image, side, options.interpolation);
    if (!resized) return resized.error();
    auto cropped = centre_crop(*resized, side);
    if (!cropped) return cropped.error();
    made = std::move(*cropped);
    square = &made;
  }
  const auto places = side * side;
  for (std::int64_t i = 0; i < places; ++i) {
    for (std::int64_t c = 0; c < kChannels; ++c) {
      planes[c * places + i] = square->pixels[static_cast<std::size_t>(i * kChannels + c)];
    }
  }
  return {};
}

// The tables that are being filled, by split.
class Tables {
 public:
  explicit Tables(std::span<const TableSpace> spaces, const Sizes& sizes)
      : spaces_(spaces), rows_{sizes.private_train, sizes.private_validation, sizes.test} {
    for (std::size_t i = 0; i < rows_.size(); ++i) filled_[i].resize(static_cast<std::size_t>(rows_[i]));
  }

  // The table of a place, after its label is written. An error if the place is outside or was
  // filled.
  Result<std::size_t> claim(const ImagePlace& place) {
    const auto table = place.split == Split::private_train ? 0U : place.split == Split::test ? 2U : 1U;
    const auto row = static_cast<std::size_t>(place.row);
    if (place.row < 0 || place.row >= rows_[table] || filled_[table][row]) {
      return error(
          fmt::format("row {} of {} does not exist or came twice.", place.row, to_string(place.split)));
    }
    filled_[table][row] = true;
    spaces_[table].labels[row] = place.label;
    return std::size_t{table};
  }
  Result<void> check_full() const {
    for (const auto& rows : filled_) {
      if (std::find(rows.begin(), rows.end(), false) != rows.end()) {
        return error("has fewer images than were counted when the spec was read.");
      }
    }
    return {};
  }
  const TableSpace& space(std::size_t table) const { return spaces_[table]; }

 private:
  std::span<const TableSpace> spaces_;
  std::array<std::int64_t, 3> rows_;
  std::array<std::vector<bool>, 3> filled_;
};

struct Waiting {
  ImagePlace place;
  std::size_t table = 0;
  Image image;
};

// Collects images, prepares many at once, and writes them, or their features, into the tables.
class Filler {
 public:
  Filler(Tables& tables, const ImageOptions& options, std::optional<models::Network> network,
         const Sizes& sizes, torch::Device device)
      : tables_(tables),
        options_(options),
        network_(std::move(network)),
        columns_(static_cast<std::size_t>(sizes.features)),
        device_(device) {}

  Result<void> take(const ImagePlace& place, Image image) {
    const auto table = tables_.claim(place);
    if (!table) return table.error();
    bytes_ += image.pixels.size() + static_cast<std::size_t>(kChannels * options_.side * options_.side);
    waiting_.push_back({place, *table, std::move(image)});
    return waiting_.size() < kMostAtOnce && bytes_ < kMostBytesAtOnce ? Result<void>() : write();
  }

  Result<void> write() {
    const auto count = static_cast<std::int64_t>(waiting_.size());
    if (count == 0) return {};
    const auto bytes = at::empty({count, kChannels * options_.side * options_.side}, at::kByte);
    if (auto made = prepare_all(bytes); !made) return made;
    if (network_) {
      if (auto written = write_features(bytes); !written) return written;
    } else {
      for (std::int64_t i = 0; i < count; ++i) {
        const auto& one = waiting_[static_cast<std::size_t>(i)];
        const auto at = static_cast<std::size_t>(one.place.row) * columns_;
        std::copy_n(bytes.const_data_ptr<std::uint8_t>() + static_cast<std::size_t>(i) * columns_, columns_,
                    tables_.space(one.table).bytes.begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
    waiting_.clear();
    bytes_ = 0;
    return {};
  }

 private:
  Result<void> prepare_all(const torch::Tensor& bytes) {
    std::mutex guard;
    std::optional<Error> problem;
    const auto size = bytes.size(1);
    auto* planes = bytes.mutable_data_ptr<std::uint8_t>();
    at::parallel_for(0, bytes.size(0), 8, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const auto& one = waiting_[static_cast<std::size_t>(i)];
        if (auto made = prepare(one.image, options_, planes + i * size); !made) {
          const std::lock_guard<std::mutex> lock(guard);
          problem = made.error();
        }
      }
    });
    return problem ? Result<void>(*problem) : Result<void>();
  }

  Result<void> write_features(const torch::Tensor& bytes) {
    const torch::NoGradGuard no_gradients;
    const auto at_once = frozen_images_at_once(bytes.size(1), device_.is_cpu());
    for (std::int64_t first = 0; first < bytes.size(0); first += at_once) {
      const auto some = bytes.narrow(0, first, std::min(at_once, bytes.size(0) - first));
      std::vector<std::int64_t> as_they_are, copied;  // places among those that wait
      for (std::int64_t i = first; i < first + some.size(0); ++i) {
        (has_copies(waiting_[static_cast<std::size_t>(i)]) ? copied : as_they_are).push_back(i);
      }
      if (!as_they_are.empty()) {
        auto written = write_vectors(numbers(bytes, as_they_are), as_they_are, 0);
        if (!written) return written;
      }
      if (!copied.empty()) {
        if (auto written = write_copies(bytes, copied); !written) return written;
      }
    }
    return {};
  }

  bool has_copies(const Waiting& one) const {
    return options_.copies > 0 && one.place.split == Split::private_train;
  }

  torch::Tensor numbers(const torch::Tensor& bytes, const std::vector<std::int64_t>& places) const {
    const auto wanted = bytes.index_select(0, at::tensor(places, at::kLong));
    return scaled(wanted.to(device_), pixel_scale(options_.normalise), torch::kFloat32);
  }

  // How a copy is moved follows from public constants and the image's own bytes, so it depends on
  // no other record.
  Result<void> write_copies(const torch::Tensor& bytes, const std::vector<std::int64_t>& places) {
    const auto values = numbers(bytes, places);
    const auto side = options_.side;
    const auto length = static_cast<std::size_t>(bytes.size(1));
    const auto each = static_cast<std::size_t>(options_.copies);
    std::vector<std::uint64_t> words(places.size() * each);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto* image = bytes.const_data_ptr<std::uint8_t>() + static_cast<std::size_t>(places[i]) * length;
      words_of_copies({image, length}, std::span(words).subspan(i * each, each));
    }
    std::vector<std::uint64_t> of_copy(places.size());
    for (std::size_t copy = 0; copy < each; ++copy) {
      for (std::size_t i = 0; i < places.size(); ++i) of_copy[i] = words[i * each + copy];
      const auto moved = moved_copies(values, of_copy, {.copies = 1, .shift = side / kShiftsInASide},
                                      {kChannels, side, side});
      if (auto written = write_vectors(moved, places, copy); !written) return written;
    }
    return {};
  }

  // The network's features of the images at these places, each as those of its copy `copy`.
  Result<void> write_vectors(const torch::Tensor& images, const std::vector<std::int64_t>& places,
                             std::size_t copy) {
    const auto features = in_norm(network_->features(images)).to(torch::kFloat32).cpu().contiguous();
    HYFREEDP_CHECK(features.size(1) == static_cast<std::int64_t>(columns_),
                   "a network gives another number of features than its facts say");
    if (!at::isfinite(features).all().item<bool>()) {
      return error(
          "The frozen network gives features that are not finite, with which nothing can be trained. Look "
          "whether its weights are damaged, and whether 'normalise' and 'feature_norm' are right for it.");
    }
    const auto* from = features.const_data_ptr<float>();
    for (const auto place : places) {
      const auto& one = waiting_[static_cast<std::size_t>(place)];
      const auto vectors = static_cast<std::size_t>(has_copies(one) ? options_.copies : 1);
      const auto at = (static_cast<std::size_t>(one.place.row) * vectors + copy) * columns_;
      std::copy_n(from, columns_,
                  tables_.space(one.table).features.begin() + static_cast<std::ptrdiff_t>(at));
      from += columns_;
    }
    return {};
  }

  // Each row at the wanted norm; a row of zeros stays.
  torch::Tensor in_norm(const torch::Tensor& features) const {
    if (!options_.feature_norm) return features;
    const auto norms = features.norm(2, {1}, true);
    return features * (*options_.feature_norm / norms.clamp_min(1e-30));
  }

  Tables& tables_;
  ImageOptions options_;
  std::optional<models::Network> network_;
  std::size_t columns_;
  torch::Device device_;
  std::vector<Waiting> waiting_;
  std::size_t bytes_ = 0;
};

Result<std::optional<models::Network>> network_of(const json::object& options, const torch::Device& device) {
  const auto own = read_options<ImageOptions>(options);
  if (!own.uses_network()) return std::optional<models::Network>();
  const auto frozen = frozen_network(options);
  if (!frozen) return frozen.error();
  if (!has_text(own.open.weights_sha256)) {
    return error(own.open.weights.value_or("") +
                 ": the weights were not here when the spec was read; run it again.");
  }
  // The weights come from the file; the key would draw a head, which is not used.
  auto network =
      models::make_model(frozen->name, frozen->options, own.input(), random::key_from_seed("frozen network"),
                         torch::TensorOptions().dtype(torch::kFloat32).device(device));
  if (!network) return network.error();
  return std::optional<models::Network>(std::move(*network));
}

}  // namespace

Result<Dataset> load_images(const ImageSource& source, const json::object& options,
                            const std::string& device) {
  const auto own = read_options<ImageOptions>(options);
  const auto type = own.uses_network() ? TableType::real : TableType::byte;
  const auto& n = source.sizes;
  const auto make = [&](std::span<const TableSpace> spaces) -> Result<void> {
    const AllThreads threads;
    auto network = network_of(options, torch::Device(device));
    if (!network) return network.error();
    Tables tables(spaces, n);
    Filler filler(tables, own, std::move(*network), n, torch::Device(device));
    const auto take = [&filler](const ImagePlace& place, Image image) {
      return filler.take(place, std::move(image));
    };
    if (auto read = source.read(take); !read) return read;
    if (auto written = filler.write(); !written) return written;
    return tables.check_full();
  };
  const auto path = image_cache_path(source.identity, options, device);
  auto tables = load_or_make(path, table_shapes(n, type), make);
  if (!tables) return tables.error();
  if (!own.uses_network()) {
    for (auto& table : *tables) table.scale = pixel_scale(own.normalise);
  }
  (*tables)[0].copies = n.copies;
  return Dataset{.private_train = (*tables)[0], .private_validation = (*tables)[1], .test = (*tables)[2]};
}

}  // namespace hyfreedp::datasets
