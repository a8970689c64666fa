#include "datasets/synthetic_regression.h"

#include <ATen/ATen.h>
#include <vector>

#include "datasets/gaussian_classes.h"

namespace hyfreedp::datasets {
namespace {

SplitData draw(Split split, std::int64_t rows, std::int64_t columns, double weight) {
  SplitData data{.features = at::empty({rows, columns}, at::kFloat), .labels = at::empty({rows}, at::kFloat)};
  std::vector<double> uniforms(static_cast<std::size_t>(rows * columns));
  random::fill_uniforms(
      random::key_from_seed("dataset synthetic-regression, version 1"),
      {.step = static_cast<std::uint32_t>(split), .purpose = random::Purpose::synthetic_data}, 0, uniforms);
  auto* features = data.features.data_ptr<float>();
  for (std::size_t i = 0; i < uniforms.size(); ++i) features[i] = static_cast<float>(uniforms[i]);
  data.labels = data.features.to(at::kDouble).sum(1).mul_(weight).to(at::kFloat);
  return data;
}

}  // namespace

Result<Dataset> SyntheticRegression::load(const Facts& /*facts*/, const json::object& options) {
  const Sizes n = sizes(options);
  if (auto fits = check_amount(n, "synthetic-regression", "train, validation, test or features"); !fits)
    return fits.error();
  const double weight = read_options<SyntheticRegressionOptions>(options).weight;
  return Dataset{
      .private_train = draw(Split::private_train, n.private_train, n.features, weight),
      .private_validation = draw(Split::private_validation, n.private_validation, n.features, weight),
      .test = draw(Split::test, n.test, n.features, weight)};
}

}  // namespace hyfreedp::datasets
