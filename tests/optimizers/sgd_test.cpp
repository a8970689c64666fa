// The first step of a momentum buffer, which the reference traces, without dampening, do not tell
// from the others.
#include "optimizers/sgd.h"

#include <gtest/gtest.h>

namespace hyfreedp::optimizers {
namespace {

TEST(Sgd, TheFirstGradientIsNotDampened) {
  auto sgd = make_sgd({.momentum = 0.9, .dampening = 0.25}).value();
  const auto parameters = torch::zeros({3}, torch::kFloat64);
  sgd->begin(parameters, {}, {});
  auto direction = torch::empty_like(parameters);
  sgd->advance(torch::full({3}, 2.0, torch::kFloat64), parameters, 1, direction);
  EXPECT_DOUBLE_EQ(direction[1].item<double>(), 2);
  sgd->advance(torch::full({3}, 4.0, torch::kFloat64), parameters, 1, direction);
  EXPECT_DOUBLE_EQ(direction[1].item<double>(), 0.9 * 2 + 0.75 * 4);
}

}  // namespace
}  // namespace hyfreedp::optimizers
