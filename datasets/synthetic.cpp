#include "datasets/synthetic.h"

#include <cmath>
#include <span>
#include <vector>

#include "harness/random/stream.h"

namespace hyfreedp::datasets {
namespace {

// Which numbers a stream of this dataset makes: the address's lane.
enum Lane : std::uint8_t { kMeans = 0, kLabels = 1, kNoise = 2 };

constexpr double kMaxNumbers = 1e9;  // 4 GB of features

random::Key key() { return random::key_from_seed("dataset synthetic, version 1"); }

random::Address address(Split split, Lane lane) {
  return {
      .step = static_cast<std::uint32_t>(split), .purpose = random::Purpose::synthetic_data, .lane = lane};
}

// [classes, features], each row of norm `length`.
std::vector<double> class_means(std::int64_t classes, std::int64_t features, double length) {
  const auto columns = static_cast<std::size_t>(features);
  std::vector<double> means(static_cast<std::size_t>(classes) * columns);
  random::fill_normals(key(), address(Split::public_data, kMeans), 0, means);
  for (std::size_t row = 0; row < means.size(); row += columns) {
    double squares = 0.0;
    for (std::size_t i = 0; i < columns; ++i) squares += means[row + i] * means[row + i];
    for (std::size_t i = 0; i < columns; ++i) means[row + i] *= length / std::sqrt(squares);
  }
  return means;
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

Result<Dataset> load_synthetic(const Facts& facts, const json::object& options) {
  const Sizes n = sizes(facts, options);
  const double rows = static_cast<double>(n.private_train + n.private_validation + n.test + n.classes);
  if (rows * static_cast<double>(n.features) > kMaxNumbers) {
    return error(
        "dataset synthetic: more than 1e9 numbers were asked for. Lower train, validation, test or "
        "features.");
  }
  const auto means = class_means(n.classes, n.features, double_or(options, "separation", 3.0));
  return Dataset{.private_train = draw(Split::private_train, n.private_train, n, means),
                 .private_validation = draw(Split::private_validation, n.private_validation, n, means),
                 .test = draw(Split::test, n.test, n, means)};
}

}  // namespace hyfreedp::datasets
