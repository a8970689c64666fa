// constant by itself; controller_contract_test.cpp holds every controller to the contract.
#include <gtest/gtest.h>

#include "optimizers/learning_rate.h"

namespace hyfreedp::optimizers {
namespace {

TEST(Constant, HasTheRateAskedForAtEveryStep) {
  const auto controller = make_controller("constant", {{"lr", 0.25}}).value();
  controller->begin({.steps = 40, .dimension = 100, .classes = 10});
  EXPECT_EQ(controller->learning_rate(0), 0.25);
  EXPECT_EQ(controller->learning_rate(39), 0.25);
}

}  // namespace
}  // namespace hyfreedp::optimizers
