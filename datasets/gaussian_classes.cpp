#include "datasets/gaussian_classes.h"

#include <span>

namespace hyfreedp::datasets {
namespace {

enum Lane : std::uint8_t { kMeans = 0, kLabels = 1, kNoise = 2 };

constexpr double kMaxNumbers = 1e9;  // 4 GB of features

random::Address address(Split split, Lane lane) {
  return {
      .step = static_cast<std::uint32_t>(split), .purpose = random::Purpose::synthetic_data, .lane = lane};
}

}  // namespace

random::Address means_address() { return address(Split::public_data, kMeans); }

Result<void> check_amount(const Sizes& sizes, const std::string& dataset, const std::string& options) {
  const auto rows =
      static_cast<double>(sizes.private_train + sizes.private_validation + sizes.test + sizes.classes);
  if (rows * static_cast<double>(sizes.features) <= kMaxNumbers) return {};
  return error("dataset " + dataset + ": more than 1e9 numbers were asked for. Lower " + options + ".");
}

Dataset gaussian_classes(const random::Key& key, const Sizes& sizes, const std::vector<double>& means) {
  const auto columns = static_cast<std::size_t>(sizes.features);
  const auto draw = [&](Split split, std::int64_t rows) {
    SplitData data{.features = at::empty({rows, sizes.features}, at::kFloat),
                   .labels = at::empty({rows}, at::kLong)};
    auto* features = data.features.data_ptr<float>();
    auto* labels = data.labels.data_ptr<std::int64_t>();
    std::vector<double> uniforms(static_cast<std::size_t>(rows));
    random::fill_uniforms(key, address(split, kLabels), 0, uniforms);
    for (std::size_t i = 0; i < uniforms.size(); ++i) {
      labels[i] = static_cast<std::int64_t>(uniforms[i] * static_cast<double>(sizes.classes));
      const double* mean = means.data() + static_cast<std::size_t>(labels[i]) * columns;
      for (std::size_t j = 0; j < columns; ++j) features[i * columns + j] = static_cast<float>(mean[j]);
    }
    random::add_normals(key, address(split, kNoise), 0, 1.0,
                        std::span<float>(features, static_cast<std::size_t>(rows) * columns));
    return data;
  };
  return {.private_train = draw(Split::private_train, sizes.private_train),
          .private_validation = draw(Split::private_validation, sizes.private_validation),
          .test = draw(Split::test, sizes.test)};
}

}  // namespace hyfreedp::datasets
