#include <gtest/gtest.h>

#include "datasets/dataset.h"

namespace hyfreedp::datasets {
namespace {

json::object resolved(const json::object& given) {
  return *resolve_options((*find_dataset("synthetic-regression"))->options, given, "test");
}

TEST(SyntheticRegression, LabelsAreTheWeightedSumAndSplitsDiffer) {
  const auto options = resolved({{"train", 4000}, {"weight", 3.0}});
  const auto data = *load_dataset("synthetic-regression", options);
  const auto& train = data.private_train;
  const auto sums = train.features.to(at::kDouble).sum(1).mul(3.0);
  EXPECT_LT((train.labels.to(at::kDouble) - sums).abs().max().item<double>(), 1e-5);
  // 40,000 uniforms: mean 0.5 with sd 0.0014, variance 1/12 with sd 0.0004; six sd either side.
  EXPECT_NEAR(train.features.mean().item<double>(), 0.5, 0.009);
  EXPECT_NEAR(train.features.var().item<double>(), 1.0 / 12, 0.0025);
  EXPECT_FALSE(at::equal(train.features.slice(0, 0, 500), data.test.features.slice(0, 0, 500)));
  const auto longer = *load_dataset("synthetic-regression", resolved({{"train", 4100}, {"weight", 3.0}}));
  EXPECT_TRUE(at::equal(train.features, longer.private_train.features.slice(0, 0, 4000)));
}

}  // namespace
}  // namespace hyfreedp::datasets
