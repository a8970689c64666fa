// The p-values against values computed by numerical integration of the densities, and against
// simulation.
#include "results/regress/regress_tests.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace hyfreedp::results {
namespace regress_tests_test {

TEST(PairedShift, HasThePValuesOfTheTDistribution) {
  const std::vector<double> differences{0.3, 0.1, -0.2, 0.4, 0.25};
  const auto test = paired_shift(differences, {.margin = 0.5, .resolution = 0, .level = 0.9}).value();
  EXPECT_NEAR(test.change, 0.17, 1e-12);
  EXPECT_NEAR(test.standard_error, 0.1044030650891, 1e-12);
  EXPECT_NEAR(test.alarm_low, 0.9984848676525, 1e-9);
  EXPECT_NEAR(test.alarm_high, 0.9829215276630, 1e-9);
  EXPECT_NEAR(test.equivalence, 0.0170784723370, 1e-9);
  EXPECT_NEAR(test.seen->high - test.change, 0.2225713387929, 1e-9);
  EXPECT_NEAR(paired_shift(differences, {.margin = 0.1}).value().alarm(), 0.5392760837512, 1e-9);
}

TEST(WelchShift, HasThePValuesOfTheTDistribution) {
  const std::vector<double> tonight{1.2, 0.8, 1.5, 1.1, 1.4}, reference{0.9, 0.7, 0.2, 0.4};
  const auto test = welch_shift(tonight, reference, {.margin = 0.1}).value();
  EXPECT_NEAR(test.freedom, 6.113468634686, 1e-9);
  EXPECT_NEAR(test.alarm(), 0.03141228333104, 1e-9);
}

TEST(Shift, NeedsTwoValuesAndIsExactWhereNothingVaries) {
  EXPECT_FALSE(paired_shift(std::vector{1.0}, {.margin = 1}));
  EXPECT_FALSE(welch_shift(std::vector{1.0, 2.0}, std::vector{1.0}, {.margin = 1}));
  const auto moved = paired_shift(std::vector{2.0, 2.0}, {.margin = 1}).value();
  EXPECT_EQ(moved.alarm(), 0);
  EXPECT_EQ(moved.equivalence, 1);
  const auto still = paired_shift(std::vector{0.0, 0.0}, {.margin = 1}).value();
  EXPECT_EQ(still.alarm(), 1);
  EXPECT_EQ(still.equivalence, 0);
}

// Accuracies are counts: two seeds whose difference happens to be the same are no proof.
TEST(Shift, ResolutionKeepsEqualDifferencesFromBeingCertain) {
  const auto test = paired_shift(std::vector{-2.0, -2.0}, {.margin = 1, .resolution = 1}).value();
  EXPECT_GT(test.alarm(), 0.05);
  EXPECT_NEAR(test.standard_error, std::sqrt(1.0 / 6 / 2), 1e-12);
}

// At the margin itself an alarm has the stated size, inside it less. 4000 draws, 6 standard
// deviations: a false failure once in 1e8.
TEST(PairedShift, SizeAtTheMarginAndWithinIt) {
  std::mt19937_64 random(1);
  const auto rate = [&](double shift) {
    std::normal_distribution<double> normal(shift, 1.0);
    int alarms = 0;
    for (int i = 0; i < 4000; ++i) {
      std::vector<double> differences(5);
      for (auto& value : differences) value = normal(random);
      alarms += paired_shift(differences, {.margin = 0.5}).value().alarm() <= 0.1;
    }
    return alarms / 4000.0;
  };
  const double sd = std::sqrt(0.1 * 0.9 / 4000);
  EXPECT_LT(rate(-0.5), 0.1 + 6 * sd);
  EXPECT_GT(rate(-0.5), 0.03);
  EXPECT_LT(rate(0), 0.05);
  EXPECT_GT(rate(3), 0.9);
}

TEST(ChiSquare, AcceptsTheNominalScaleAndRejectsOthers) {
  const ShiftRequest request{.margin = std::log(1.02), .resolution = 0, .level = 0.9};
  const auto honest = chi_square(50000 * 1.001, 50000, request).value();
  EXPECT_GT(honest.alarm(), 0.9);
  EXPECT_LT(honest.equivalence, 1e-6);
  for (const double scale : {2.0 / 3, 1 / 1.1, 1.1, 1.5}) {
    const auto wrong = chi_square(50000 * scale * scale, 50000, request).value();
    EXPECT_LT(wrong.alarm(), 1e-9) << scale;
    EXPECT_GT(wrong.equivalence, 0.5) << scale;
    EXPECT_NEAR(std::exp(wrong.change), scale, 1e-12);
  }
  // P(X >= 17) of 10 degrees of freedom is exp(-8.5) (1 + 8.5 + 8.5^2/2 + 8.5^3/6 + 8.5^4/24).
  const double tail =
      std::exp(-8.5) * (1 + 8.5 + 8.5 * 8.5 / 2 + std::pow(8.5, 3) / 6 + std::pow(8.5, 4) / 24);
  EXPECT_NEAR(chi_square(17, 10, {.margin = 0}).value().alarm_high, tail, 1e-12);
  EXPECT_FALSE(chi_square(0, 0, request));
  EXPECT_EQ(chi_square(INFINITY, 10, request)->alarm(), 0);
}

TEST(Fisher, IsExact) {
  EXPECT_NEAR(fisher_more_failures(5, 5, 0, 5), 1 / 252.0, 1e-12);
  EXPECT_NEAR(fisher_more_failures(3, 5, 1, 5), 0.26190476190476, 1e-12);
  EXPECT_EQ(fisher_more_failures(0, 5, 3, 5), 1);
  EXPECT_EQ(fisher_more_failures(5, 5, 5, 5), 1);
  EXPECT_EQ(fisher_more_failures(0, 0, 0, 0), 1);
}

TEST(SeedsNeeded, FollowTheNonCentralT) {
  const auto seeds = [](double sd, bool paired) {
    return seeds_needed({.sd = sd, .margin = 0.5, .level = 0.05, .power = 0.8, .paired = paired}).value();
  };
  EXPECT_EQ(seeds(1, true), 36);
  EXPECT_EQ(seeds(0.5, true), 11);
  EXPECT_EQ(seeds(0.25, true), 4);
  EXPECT_EQ(seeds(1, false), 70);
  EXPECT_EQ(seeds(0.5, false), 18);
  EXPECT_EQ(seeds(0.25, false), 6);
  EXPECT_EQ(seeds(0, true), 2);
  EXPECT_EQ(seeds(1e-9, true), 2);
  EXPECT_LE(seeds(5, true), kMostSeeds);
  EXPECT_FALSE(seeds_needed({.sd = 6, .margin = 0.5}));  // nobody runs that many
}

// With as many seeds as it says, two unchanged nights are shown to be the same as often as it says.
// 3000 draws, 5 standard deviations below: a false failure less than once in 1e6.
TEST(SeedsNeeded, GiveThePower) {
  const PowerRequest request{.sd = 0.7, .margin = 0.5, .level = 0.05, .power = 0.8, .paired = true};
  const auto n = static_cast<std::size_t>(seeds_needed(request).value());
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal(0, request.sd);
  int shown = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<double> differences(n);
    for (auto& value : differences) value = normal(random);
    shown += paired_shift(differences, {.margin = request.margin}).value().equivalence <= request.level;
  }
  EXPECT_GT(shown / 3000.0, 0.8 - 5 * std::sqrt(0.16 / 3000));
  EXPECT_LT(shown / 3000.0, 0.87);
}

TEST(Adjusted, HolmAndFalseDiscoveryRate) {
  const std::vector<double> p{0.01, 0.04, 0.03, 0.005};
  const std::vector<double> holm{0.03, 0.06, 0.06, 0.02}, fdr{0.02, 0.04, 0.04, 0.02};
  for (std::size_t i = 0; i < p.size(); ++i) {
    EXPECT_NEAR(holm_adjusted(p)[i], holm[i], 1e-12);
    EXPECT_NEAR(fdr_adjusted(p)[i], fdr[i], 1e-12);
  }
  EXPECT_TRUE(holm_adjusted({}).empty());
}

}  // namespace regress_tests_test
}  // namespace hyfreedp::results
