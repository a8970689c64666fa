#include "datasets/idx_images.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "datasets/cache.h"
#include "datasets/dataset.h"
#include "datasets/image/hog.h"
#include "datasets/image_options.h"
#include "datasets/image_tables.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::array kSplits = {Split::private_train, Split::private_validation, Split::test};

// Rows of one file that make a split.
struct Part {
  const ImageSet& images;
  std::vector<std::int64_t> rows;
};

// private_train, private_validation and test, of the sizes `n`.
std::array<Part, 3> parts_of(const Facts& facts, const IdxSource& source, const ImageSplits& images,
                             const Sizes& n) {
  auto rows = source.divide(facts.name, source.all, n);
  return {Part{images.train, std::move(rows.train)}, Part{images.train, std::move(rows.validation)},
          Part{images.test, std::move(rows.test)}};
}

// The training file's first images are for training, its last ones for validation.
DividedRows first_and_last(const std::string& dataset, const Sizes& all, const Sizes& n) {
  DividedRows rows{.train = keyed_subset(dataset, Split::private_train, all.private_train, n.private_train),
                   .validation = keyed_subset(dataset, Split::private_validation, all.private_validation,
                                              n.private_validation),
                   .test = keyed_subset(dataset, Split::test, all.test, n.test)};
  for (auto& row : rows.validation) row += all.private_train;
  return rows;
}

void fill(const Part& part, bool hog, const TableSpace& space) {
  const std::size_t columns = hog ? kHogFeatures : kImagePixels;
  for (std::size_t i = 0; i < space.labels.size(); ++i) {
    const auto row = static_cast<std::size_t>(part.rows[i]);
    const std::span<const std::uint8_t, kImagePixels> image(part.images.pixels.data() + row * kImagePixels,
                                                            kImagePixels);
    float* out = space.features.data() + i * columns;
    if (hog) {
      hog_features(image, std::span<float, kHogFeatures>(out, kHogFeatures));
    } else {
      pixel_features(image, std::span<float, kImagePixels>(out, kImagePixels));
    }
    space.labels[i] = part.images.labels[row];
  }
}

Result<void> make_tables(const Facts& facts, const IdxSource& source, const json::object& options,
                         std::span<const TableSpace> spaces) {
  const auto images = source.read();
  if (!images) return images.error();
  const bool hog = read_options<GreyImageOptions>(options).image.features == ImageFeatures::hog;
  const auto parts = parts_of(facts, source, *images, idx_image_sizes(source.all, options));
  for (std::size_t i = 0; i < parts.size(); ++i) fill(parts[i], hog, spaces[i]);
  return {};
}

// The grey image in three equal channels.
Image coloured(const ImageSet& images, std::size_t row) {
  Image image{.height = kImageSide, .width = kImageSide, .pixels = {}};
  image.pixels.reserve(3 * kImagePixels);
  for (std::size_t i = 0; i < kImagePixels; ++i) {
    image.pixels.insert(image.pixels.end(), 3, images.pixels[row * kImagePixels + i]);
  }
  return image;
}

Result<void> take_images(const Facts& facts, const IdxSource& source, const Sizes& n, const TakeImage& take) {
  const auto files = source.read();
  if (!files) return files.error();
  const auto parts = parts_of(facts, source, *files, n);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& [images, rows] = parts[i];
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const auto at = static_cast<std::size_t>(rows[row]);
      const ImagePlace place{
          .split = kSplits[i], .row = static_cast<std::int64_t>(row), .label = images.labels[at]};
      if (auto taken = take(place, coloured(images, at)); !taken) return taken;
    }
  }
  return {};
}

Result<ImageSet> read_pair(const std::string& folder, std::size_t place, std::int64_t count) {
  std::array<IdxFile, 2> files;
  for (std::size_t i = 0; i < files.size(); ++i) {
    files[i].name = folder + "/" + kIdxFiles[place + i];
    auto array = read_idx(files[i].name);
    if (!array) return array.error();
    files[i].array = std::move(*array);
  }
  return grey_images(std::move(files[0]), std::move(files[1]),
                     {.count = count, .classes = all_idx_images().classes});
}

Result<ImageSplits> read_four(const Facts& facts) {
  const auto folder = locate(facts);
  if (!folder) return folder.error();
  if (const auto verified = verify_files(facts, *folder); !verified) return verified.error();
  const auto all = all_idx_images();
  auto training = read_pair(*folder, 0, all.private_train + all.private_validation);
  if (!training) return training.error();
  auto testing = read_pair(*folder, 2, all.test);
  if (!testing) return testing.error();
  return ImageSplits{.train = std::move(*training), .test = std::move(*testing)};
}

}  // namespace

Result<ImageSet> grey_images(IdxFile pixels, IdxFile labels, const IdxContent& expected) {
  if (pixels.array.shape != std::vector<std::int64_t>{expected.count, kImageSide, kImageSide}) {
    return error(fmt::format("{}: {} images of 28 x 28 pixels were expected, but it has {}.", pixels.name,
                             expected.count, fmt::join(pixels.array.shape, " x ")));
  }
  if (labels.array.shape != std::vector<std::int64_t>{expected.count}) {
    return error(fmt::format("{}: {} labels were expected, but it has {}.", labels.name, expected.count,
                             fmt::join(labels.array.shape, " x ")));
  }
  ImageSet images{.count = expected.count,
                  .channels = 1,
                  .height = kImageSide,
                  .width = kImageSide,
                  .pixels = std::move(pixels.array.bytes),
                  .labels = {}};
  images.labels.reserve(labels.array.bytes.size());
  for (const int label : labels.array.bytes) {
    images.labels.push_back(label - expected.first_label);
    if (images.labels.back() >= 0 && images.labels.back() < expected.classes) continue;
    return error(fmt::format("{}: the label {} lies outside {}..{}.", labels.name, label,
                             expected.first_label, expected.first_label + expected.classes - 1));
  }
  return images;
}

Result<Dataset> load_grey_images(const Facts& facts, const IdxSource& source, const json::object& options,
                                 const std::string& device) {
  const Sizes n = idx_image_sizes(source.all, options);
  if (uses_network(options)) {
    const auto read = [&](const TakeImage& take) { return take_images(facts, source, n, take); };
    const auto identity = image_identity(facts.name, source.marks);
    return load_images({.identity = identity, .sizes = n, .read = read}, options, device);
  }
  const auto make = [&](std::span<const TableSpace> spaces) {
    return make_tables(facts, source, options, spaces);
  };
  auto tables =
      load_or_make(idx_features_path(facts, source.marks, options), table_shapes(n, TableType::real), make);
  if (!tables) return tables.error();
  return Dataset{.private_train = (*tables)[0], .private_validation = (*tables)[1], .test = (*tables)[2]};
}

Result<Dataset> IdxImages::load(const Facts& facts, const json::object& options, const std::string& device) {
  const IdxSource source{
      .all = all_idx_images(), .marks = checksums(facts), .divide = first_and_last, .read = [&facts] {
        return read_four(facts);
      }};
  return load_grey_images(facts, source, options, device);
}

}  // namespace hyfreedp::datasets
