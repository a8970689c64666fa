// The paired release of a probe's losses: one loss, and the differences from it.
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "harness/mechanism/releases.h"
#include "harness/training/private_loss.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace paired_release_test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(PairedRelease, ADifferenceIsClampedToItsBoundOnBothSides) {
  const auto there = torch::tensor({1.0, 5.0, 0.0, std::nan(""), kInfinity, kInfinity}, torch::kFloat64);
  const auto zero = torch::tensor({0.75, 1.0, 3.0, 1.0, kInfinity, 1.0}, torch::kFloat64);
  // .25, .5, -.5, 0, 0 and .5
  EXPECT_DOUBLE_EQ(noised(bounded_difference_sum(there, zero, 0.5), 3, 10, 0), 0.075);
  EXPECT_DOUBLE_EQ(noised(bounded_difference_sum(there, zero, 0.5), 3, 10, 2), 0.075 + 3 * 0.5 * 2 / 10);
  const auto none = torch::empty({0}, torch::kFloat64);
  EXPECT_DOUBLE_EQ(noised(bounded_difference_sum(none, none, 0.5), 3, 10, 2), 0.3);
}

std::map<std::string, double> first_probe(const json::object& options, bool separate_batch = false) {
  auto config = probing_config(separate_batch, 1);
  json::object all{{"eta0", 0.05}, {"R_l0", 10.0}};
  for (const auto& option : options) all.insert_or_assign(option.key(), option.value());
  config.controller = controller_named("hyfreedp", all);
  return journal_under_one_key(config).steps.at(0).scalars;
}

json::object paired(double share) { return {{"release", "paired"}, {"difference_share", share}}; }

// No loss and no difference reaches a bound here, so the released values are the exact ones and
// their noise.
TEST(PairedRelease, TheNoiseOfADifferenceIsInProportionToItsBound) {
  for (const bool separate : {false, true}) {
    const auto half = first_probe(paired(0.5), separate), one = first_probe(paired(1), separate),
               two = first_probe(paired(2), separate);
    for (const char* name : {"G", "H"}) {
      const double noise = one.at(name) - half.at(name);
      EXPECT_GT(std::abs(noise), 1e-3) << name;
      EXPECT_NEAR((two.at(name) - one.at(name)) / noise, 2, 1e-6) << name;
    }
    // The loss at the weights is released as ever.
    EXPECT_EQ(half.at("private_loss"), first_probe({}, separate).at("private_loss"));
  }
}

TEST(PairedRelease, LeavesNothingOfTheDifferencesUnderATinyBound) {
  const auto tiny = first_probe(paired(1e-12));
  EXPECT_LT(std::abs(tiny.at("G")), 1e-9);
  EXPECT_GT(std::abs(first_probe({}).at("G")), 1e-3);
}

TEST(PairedRelease, CostsWhatThreeLossesCostAndIsAnotherTrial) {
  auto plain = probing_config(true);
  auto config = plain;
  config.controller = controller_named("hyfreedp", {{"eta0", 0.05}, {"release", "paired"}});
  EXPECT_NE(config.id(), plain.id());
  EXPECT_EQ(json::serialize(accounting::events_to_json({.events = mechanism::events(config)})),
            json::serialize(accounting::events_to_json({.events = mechanism::events(plain)})));
  // What is not the default alone is part of the identity.
  plain.controller = controller_named("hyfreedp", {{"eta0", 0.05}, {"release", "separate"}});
  EXPECT_EQ(plain.id(), probing_config(true).id());
}

}  // namespace paired_release_test
}  // namespace hyfreedp::training
