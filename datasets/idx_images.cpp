#include "datasets/idx_images.h"

#include <algorithm>
#include <fmt/format.h>

#include "datasets/cache.h"
#include "datasets/dataset.h"
#include "datasets/formats/idx.h"
#include "datasets/hog.h"
#include "datasets/image_options.h"
#include "datasets/image_tables.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::array kSplits = {Split::private_train, Split::private_validation, Split::test};

struct Images {
  IdxArray pixels;  // [n, 28, 28]
  IdxArray labels;  // [n]
};

// Rows of one file that make a split.
struct Part {
  const Images& images;
  std::vector<std::int64_t> rows;
};

Result<Images> read_images(const std::string& folder, const std::string& stem, std::int64_t count) {
  const std::string pixels_path = folder + "/" + stem + "-images-idx3-ubyte.gz";
  const std::string labels_path = folder + "/" + stem + "-labels-idx1-ubyte.gz";
  auto pixels = read_idx(pixels_path);
  if (!pixels) return pixels.error();
  auto labels = read_idx(labels_path);
  if (!labels) return labels.error();
  if (pixels->shape != std::vector<std::int64_t>{count, kImageSide, kImageSide}) {
    return error(fmt::format("{}: {} images of 28 x 28 pixels were expected.", pixels_path, count));
  }
  if (labels->shape != std::vector<std::int64_t>{count}) {
    return error(fmt::format("{}: {} labels were expected.", labels_path, count));
  }
  if (std::any_of(labels->bytes.begin(), labels->bytes.end(), [](std::uint8_t label) { return label > 9; })) {
    return error(labels_path + ": a label lies outside 0..9.");
  }
  return Images{.pixels = std::move(*pixels), .labels = std::move(*labels)};
}

void fill(const Part& part, bool hog, const TableSpace& space) {
  const std::size_t columns = hog ? kHogFeatures : kImagePixels;
  for (std::size_t i = 0; i < space.labels.size(); ++i) {
    const auto row = static_cast<std::size_t>(part.rows[i]);
    const std::span<const std::uint8_t, kImagePixels> image(
        part.images.pixels.bytes.data() + row * kImagePixels, kImagePixels);
    float* out = space.features.data() + i * columns;
    if (hog) {
      hog_features(image, std::span<float, kHogFeatures>(out, kHogFeatures));
    } else {
      pixel_features(image, std::span<float, kImagePixels>(out, kImagePixels));
    }
    space.labels[i] = part.images.labels.bytes[row];
  }
}

struct Files {
  Images training;
  Images testing;
};

Result<Files> read_files(const Facts& facts) {
  const auto folder = locate(facts);
  if (!folder) return folder.error();
  if (const auto verified = verify_files(facts, *folder); !verified) return verified.error();
  const auto all = all_idx_images();
  auto training = read_images(*folder, "train", all.private_train + all.private_validation);
  if (!training) return training.error();
  auto testing = read_images(*folder, "t10k", all.test);
  if (!testing) return testing.error();
  return Files{.training = std::move(*training), .testing = std::move(*testing)};
}

// private_train, private_validation and test, of the sizes `n`.
std::array<Part, 3> parts_of(const Facts& facts, const Files& files, const Sizes& n) {
  const auto all = all_idx_images();
  auto validation =
      keyed_subset(facts.name, Split::private_validation, all.private_validation, n.private_validation);
  for (auto& row : validation) row += all.private_train;
  return {Part{files.training,
               keyed_subset(facts.name, Split::private_train, all.private_train, n.private_train)},
          Part{files.training, std::move(validation)},
          Part{files.testing, keyed_subset(facts.name, Split::test, all.test, n.test)}};
}

Result<void> make_tables(const Facts& facts, const Sizes& sizes, bool hog,
                         std::span<const TableSpace> spaces) {
  const auto files = read_files(facts);
  if (!files) return files.error();
  const auto parts = parts_of(facts, *files, sizes);
  for (std::size_t i = 0; i < parts.size(); ++i) fill(parts[i], hog, spaces[i]);
  return {};
}

// The grey image in three equal channels.
Image coloured(const Images& images, std::size_t row) {
  Image image{.height = kImageSide, .width = kImageSide, .pixels = {}};
  image.pixels.reserve(3 * kImagePixels);
  for (std::size_t i = 0; i < kImagePixels; ++i) {
    image.pixels.insert(image.pixels.end(), 3, images.pixels.bytes[row * kImagePixels + i]);
  }
  return image;
}

Result<void> take_files(const Facts& facts, const Sizes& n, const TakeImage& take) {
  const auto files = read_files(facts);
  if (!files) return files.error();
  const auto parts = parts_of(facts, *files, n);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& [images, rows] = parts[i];
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const auto at = static_cast<std::size_t>(rows[row]);
      const ImagePlace place{
          .split = kSplits[i], .row = static_cast<std::int64_t>(row), .label = images.labels.bytes[at]};
      if (auto taken = take(place, coloured(images, at)); !taken) return taken;
    }
  }
  return {};
}

}  // namespace

Result<Dataset> load_idx_images(const Facts& facts, const json::object& options, const std::string& device) {
  const Sizes n = idx_image_sizes(options);
  if (uses_network(options)) {
    const auto read = [&](const TakeImage& take) { return take_files(facts, n, take); };
    const auto identity = image_identity(facts.name, checksums(facts));
    return load_images({.identity = identity, .sizes = n, .read = read}, options, device);
  }
  const bool hog = string_or(options, "features", "hog") == "hog";
  const auto make = [&](std::span<const TableSpace> spaces) { return make_tables(facts, n, hog, spaces); };
  auto tables = load_or_make(idx_features_path(facts, options), table_shapes(n, TableType::real), make);
  if (!tables) return tables.error();
  return Dataset{.private_train = (*tables)[0], .private_validation = (*tables)[1], .test = (*tables)[2]};
}

}  // namespace hyfreedp::datasets
