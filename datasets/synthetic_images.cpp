#include "datasets/synthetic_images.h"

#include <cmath>
#include <span>
#include <vector>

#include "harness/random/stream.h"

namespace hyfreedp::datasets {
namespace {

enum Lane : std::uint8_t { kPatterns = 0, kLabels = 1, kNoise = 2 };

constexpr double kMaxNumbers = 1e9;  // 4 GB of pixels
constexpr std::int64_t kCell = 4;    // pixels a side

random::Key key() { return random::key_from_seed("dataset synthetic-images, version 1"); }

random::Address address(Split split, Lane lane) {
  return {
      .step = static_cast<std::uint32_t>(split), .purpose = random::Purpose::synthetic_data, .lane = lane};
}

// [classes, features]
std::vector<double> patterns(const Sizes& sizes, double contrast) {
  const auto [channels, rows, columns] = sizes.image;
  const auto across = (columns + kCell - 1) / kCell;
  const auto cells = (rows + kCell - 1) / kCell * across;
  std::vector<double> values(static_cast<std::size_t>(sizes.classes * channels * cells));
  random::fill_normals(key(), address(Split::public_data, kPatterns), 0, values);
  std::vector<double> all;
  for (std::int64_t k = 0; k < sizes.classes; ++k) {
    const auto begin = all.size();
    double squares = 0.0;
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t y = 0; y < rows; ++y) {
        for (std::int64_t x = 0; x < columns; ++x) {
          const auto cell = (k * channels + c) * cells + y / kCell * across + x / kCell;
          all.push_back(values[static_cast<std::size_t>(cell)]);
          squares += all.back() * all.back();
        }
      }
    }
    const double scale = contrast / std::sqrt(squares / static_cast<double>(sizes.features));
    for (auto i = begin; i < all.size(); ++i) all[i] *= scale;
  }
  return all;
}

SplitData draw(Split split, std::int64_t rows, const Sizes& sizes, const std::vector<double>& means) {
  const auto columns = static_cast<std::size_t>(sizes.features);
  SplitData data{.features = at::empty({rows, sizes.features}, at::kFloat),
                 .labels = at::empty({rows}, at::kLong)};
  auto* features = data.features.data_ptr<float>();
  auto* labels = data.labels.data_ptr<std::int64_t>();
  std::vector<double> uniforms(static_cast<std::size_t>(rows));
  random::fill_uniforms(key(), address(split, kLabels), 0, uniforms);
  for (std::size_t i = 0; i < uniforms.size(); ++i) {
    labels[i] = static_cast<std::int64_t>(uniforms[i] * static_cast<double>(sizes.classes));
    const double* mean = means.data() + static_cast<std::size_t>(labels[i]) * columns;
    for (std::size_t j = 0; j < columns; ++j) features[i * columns + j] = static_cast<float>(mean[j]);
  }
  random::add_normals(key(), address(split, kNoise), 0, 1.0,
                      std::span<float>(features, static_cast<std::size_t>(rows) * columns));
  return data;
}

}  // namespace

Result<Dataset> load_synthetic_images(const Facts& facts, const json::object& options) {
  const Sizes n = sizes(facts, options);
  const double rows = static_cast<double>(n.private_train + n.private_validation + n.test + n.classes);
  if (rows * static_cast<double>(n.features) > kMaxNumbers) {
    return error(
        "dataset synthetic-images: more than 1e9 numbers were asked for. Lower train, validation, test, "
        "channels or side.");
  }
  const auto means = patterns(n, double_or(options, "contrast", 0.5));
  return Dataset{.private_train = draw(Split::private_train, n.private_train, n, means),
                 .private_validation = draw(Split::private_validation, n.private_validation, n, means),
                 .test = draw(Split::test, n.test, n, means)};
}

}  // namespace hyfreedp::datasets
