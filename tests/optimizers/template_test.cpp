// signum by itself; optimizer_contract_test.cpp holds every rule to the contract.
#include <gtest/gtest.h>

#include "optimizers/optimizer.h"

namespace hyfreedp::optimizers {
namespace {

TEST(Signum, StepsAsWorkedOutByHand) {
  const auto rule = make_optimizer("signum", {{"beta1", 0.5}}).value();
  const auto parameters = torch::zeros({3}, torch::kDouble);
  rule->begin(parameters, {{"weight", 0, 3}}, {});
  torch::Tensor direction;
  rule->advance(torch::tensor({2.0, -1.0, 0.0}, torch::kDouble), parameters, 1, direction);
  EXPECT_TRUE(direction.equal(torch::tensor({1.0, -1.0, 0.0}, torch::kDouble)));
  // The mean is now (1, -0.5, 0), then (-1.5, -0.25 + 0.5, 0).
  rule->advance(torch::tensor({-4.0, 1.0, 0.0}, torch::kDouble), parameters, 1, direction);
  EXPECT_TRUE(direction.equal(torch::tensor({-1.0, 1.0, 0.0}, torch::kDouble)));
}

}  // namespace
}  // namespace hyfreedp::optimizers
