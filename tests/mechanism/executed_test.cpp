// What a finish line says was executed, read back against the plan.
#include "harness/mechanism/executed.h"

#include <gtest/gtest.h>
#include <limits>

#include "tests/trial/fixtures.h"

namespace hyfreedp::mechanism {
namespace executed_test {

trial::TrialConfig probing() {
  auto config = trial::private_config(20);
  config.privacy.probe = trial::ProbePlan{
      .separate_batch = false, .sample_rate = 0, .batch_size = 1000, .noise = 9, .points = 3, .interval = 5};
  return config;
}

TEST(Executed, APlannedRunIsOneRunOfStepsAPurpose) {
  Executed executed;
  for (std::int64_t step = 0; step < 20; ++step) {
    executed.add(
        step, step % 5 == 0 ? std::set<std::string>{"gradient", "probe"} : std::set<std::string>{"gradient"});
  }
  EXPECT_EQ(json::serialize(executed.to_json()), R"({"gradient":[[0,1,20]],"probe":[[0,5,4]]})");
  EXPECT_TRUE(check_executed(executed.to_json(), probing(), "test"));
}

TEST(Executed, WhatIsNoRunOfThePlansStepsIsRefused) {
  constexpr auto kLargest = std::numeric_limits<std::int64_t>::max();
  const std::vector<json::value> wrong = {
      nullptr,
      5,
      {{"gradient", 1}},
      {{"gradient", {{0, 1}}}},
      {{"gradient", {{0, 0, 2}}}},
      {{"gradient", {{-1, 1, 2}}}},
      {{"gradient", {{0, 1, 21}}}},
      {{"gradient", {{0, 1, 3}, {2, 1, 3}}}},
      {{"gradient", {{0, kLargest / 2, 5}}}},
      {{"gradient", {{0, 1, kLargest}}}},
      {{"probe", {{0, 1, 2}}}},
      {{"score", {{0, 1, 1}}}},
  };
  for (const auto& one : wrong) EXPECT_FALSE(check_executed(one, probing(), "test")) << json::serialize(one);
}

}  // namespace executed_test
}  // namespace hyfreedp::mechanism
