#include "datasets/fashion_mnist.h"

#include <algorithm>
#include <fmt/format.h>

#include "datasets/cache.h"
#include "datasets/dataset.h"
#include "datasets/hog.h"
#include "datasets/formats/idx.h"
#include "harness/base/files.h"

namespace hyfreedp::datasets {
namespace {

// Part of the cache's name: raise it when hog.cpp, normalise.h or the choice of examples changes
// any feature.
constexpr int kFeatureCodeVersion = 1;

struct Images {
  IdxArray pixels;  // [n, 28, 28]
  IdxArray labels;  // [n]
};

// Consecutive rows of one file that make a split.
struct Slice {
  const Images& images;
  std::int64_t first;
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

void fill(const Slice& slice, bool hog, const TableSpace& space) {
  const std::size_t columns = hog ? kHogFeatures : kImagePixels;
  for (std::size_t i = 0; i < space.labels.size(); ++i) {
    const std::size_t row = static_cast<std::size_t>(slice.first) + i;
    const std::span<const std::uint8_t, kImagePixels> image(
        slice.images.pixels.bytes.data() + row * kImagePixels, kImagePixels);
    float* out = space.features.data() + i * columns;
    if (hog) {
      hog_features(image, std::span<float, kHogFeatures>(out, kHogFeatures));
    } else {
      pixel_features(image, std::span<float, kImagePixels>(out, kImagePixels));
    }
    space.labels[i] = slice.images.labels.bytes[row];
  }
}

Result<void> make_tables(const Facts& facts, const Sizes& sizes, bool hog,
                         std::span<const TableSpace> spaces) {
  const auto folder = locate(facts);
  if (!folder) return folder.error();
  if (const auto verified = verify_files(facts, *folder); !verified) return verified.error();
  const auto training = read_images(*folder, "train", sizes.private_train + sizes.private_validation);
  if (!training) return training.error();
  const auto testing = read_images(*folder, "t10k", sizes.test);
  if (!testing) return testing.error();
  fill({*training, 0}, hog, spaces[0]);
  fill({*training, sizes.private_train}, hog, spaces[1]);
  fill({*testing, 0}, hog, spaces[2]);
  return {};
}

std::string cache_path(const Facts& facts, const json::object& options) {
  json::array checksums;
  for (const auto& file : facts.files) checksums.push_back(json::value(file.sha256));
  const json::object identity = {{"dataset", facts.name},
                                 {"files", checksums},
                                 {"options", options},
                                 {"feature_code_version", kFeatureCodeVersion}};
  return cache_folder() + "/features/" + sha256_hex(canonical_json(identity)) + ".bin";
}

}  // namespace

Result<Dataset> FashionMnist::load(const Facts& facts, const json::object& options) {
  const Sizes n = sizes(options);
  const std::vector<TableShape> shapes = {
      {.name = to_string(Split::private_train), .rows = n.private_train, .columns = n.features},
      {.name = to_string(Split::private_validation), .rows = n.private_validation, .columns = n.features},
      {.name = to_string(Split::test), .rows = n.test, .columns = n.features}};
  const bool hog = string_or(options, "features", "hog") == "hog";
  auto tables = load_or_make(cache_path(facts, options), shapes, [&](std::span<const TableSpace> spaces) {
    return make_tables(facts, n, hog, spaces);
  });
  if (!tables) return tables.error();
  return Dataset{.private_train = (*tables)[0], .private_validation = (*tables)[1], .test = (*tables)[2]};
}

}  // namespace hyfreedp::datasets
