// Intervals, ranks and power. Reference numbers: SciPy 1.17.1 (t.interval, bootstrap with method
// BCa and 2,000,000 resamples, nct.cdf solved by brentq, rankdata), computed once on the values
// that stand here.
#include <cmath>
#include <gtest/gtest.h>
#include <random>

#include "results/table/bootstrap.h"
#include "results/table/detectable.h"
#include "results/table/ranks.h"
#include "results/table/statistics.h"

namespace hyfreedp::results {
namespace intervals_test {

const std::vector<double> kFive = {80.1, 82.4, 84.0, 79.5, 83.3};
const std::vector<double> kSkewed = {1, 2, 2.5, 3, 3.2, 4, 5.5, 9, 14, 30};

TEST(Intervals, TOfTheMean) {
  const auto interval = mean_interval(kFive, 0.95);
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->low, 79.40696714702977, 1e-9);
  EXPECT_NEAR(interval->high, 84.31303285297022, 1e-9);
  EXPECT_FALSE(mean_interval(std::vector<double>{5}, 0.95));
  EXPECT_FALSE(mean_interval(std::vector<double>{5, 5}, 0.95));
}

TEST(Intervals, BootstrapIsSciPysWithinItsResampling) {
  // A bound is a quantile of 10,000 means: its own error is a few tenths of what the means spread.
  const auto five = bootstrap_interval(kFive, 0.95);
  ASSERT_TRUE(five);
  EXPECT_NEAR(five->low, 80.32, 0.1);
  EXPECT_NEAR(five->high, 83.36, 0.1);
  const auto skewed = bootstrap_interval(kSkewed, 0.95);
  ASSERT_TRUE(skewed);
  EXPECT_NEAR(skewed->low, 3.87, 0.15);
  EXPECT_NEAR(skewed->high, 16.0, 0.5) << "the percentile bootstrap gives 13.3";
}

TEST(Intervals, BootstrapIsTheSameEachTimeAndSaysNothingOfEqualValues) {
  EXPECT_EQ(bootstrap_interval(kFive, 0.95)->low, bootstrap_interval(kFive, 0.95)->low);
  EXPECT_NE(bootstrap_interval(kSkewed, 0.95, 1000, 1)->low, bootstrap_interval(kSkewed, 0.95, 1000, 2)->low);
  EXPECT_FALSE(bootstrap_interval(std::vector<double>{3, 3, 3}, 0.95));
  EXPECT_FALSE(bootstrap_interval(std::vector<double>{3}, 0.95));
}

// Share of samples of n normal values whose 95 % interval holds the true mean.
template <class IntervalOf>
double coverage(int n, int samples, const IntervalOf& interval_of) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(50, 2);
  int held = 0;
  for (int sample = 0; sample < samples; ++sample) {
    std::vector<double> values;
    for (int i = 0; i < n; ++i) values.push_back(normal(random));
    const auto interval = interval_of(values);
    held += interval && interval->low <= 50 && interval->high >= 50;
  }
  return held / static_cast<double>(samples);
}

// With fixed seeds the test is one fixed computation; with other seeds, a band of 4 standard errors
// of a share of 4,000 samples would fail in 6 of 100,000 cases.
TEST(Intervals, CoverAsOftenAsTheySay) {
  const auto by_t = [](const auto& values) { return mean_interval(values, 0.95); };
  const auto by_bootstrap = [](const auto& values) { return bootstrap_interval(values, 0.95, 500); };
  EXPECT_NEAR(coverage(3, 4000, by_t), 0.95, 4 * std::sqrt(0.95 * 0.05 / 4000));
  EXPECT_NEAR(coverage(20, 4000, by_t), 0.95, 4 * std::sqrt(0.95 * 0.05 / 4000));
  EXPECT_NEAR(coverage(20, 4000, by_bootstrap), 0.93, 4 * std::sqrt(0.93 * 0.07 / 4000));
  // Too narrow at few values: the header and the table's note say these.
  EXPECT_NEAR(coverage(5, 4000, by_bootstrap), 0.83, 4 * std::sqrt(0.83 * 0.17 / 4000));
  EXPECT_NEAR(coverage(3, 4000, by_bootstrap), 0.70, 4 * std::sqrt(0.7 * 0.3 / 4000));
}

TEST(Ranks, TiesShareTheAverageAndWhatIsMissingComesLast) {
  const std::vector<std::optional<double>> values = {90, 90, 80, 95, 80, 80};
  EXPECT_EQ(ranks(values, true), (std::vector<double>{2.5, 2.5, 5, 1, 5, 5}));
  EXPECT_EQ(ranks(values, false), (std::vector<double>{4.5, 4.5, 2, 6, 2, 2}));
  const std::vector<std::optional<double>> failed = {std::nullopt, 70, std::nullopt, 80};
  EXPECT_EQ(ranks(failed, true), (std::vector<double>{3.5, 2, 3.5, 1}));
  EXPECT_EQ(ranks(failed, false), (std::vector<double>{3.5, 1, 3.5, 2}));
}

TEST(Detectable, IsSciPys) {
  EXPECT_NEAR(*detectable_difference(1, 2), 11.549888435882362, 1e-6);
  EXPECT_NEAR(*detectable_difference(1, 3), 3.2640435496995748, 1e-7);
  EXPECT_NEAR(*detectable_difference(1, 5), 1.6819969659558394, 1e-7);
  EXPECT_NEAR(*detectable_difference(1, 10), 0.9960013714558148, 1e-7);
  EXPECT_NEAR(*detectable_difference(1, 30), 0.5292356151129531, 1e-7);
  EXPECT_NEAR(*detectable_difference(0.4, 3), 1.3056174198798296, 1e-7) << "in proportion to the deviation";
  EXPECT_FALSE(detectable_difference(1, 1));
  EXPECT_FALSE(detectable_difference(0, 3));
}

// The power that was solved for, by counting. 20,000 tests, 4 standard errors: 0.8 +- 0.0113.
TEST(Detectable, IsFoundInFourOfFiveExperiments) {
  const int n = 5;
  const double difference = *detectable_difference(1, n);
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal(difference, 1);
  int found = 0;
  for (int i = 0; i < 20000; ++i) {
    std::vector<double> values;
    for (int j = 0; j < n; ++j) values.push_back(normal(random));
    const auto interval = mean_interval(values, 0.95);
    found += interval && (interval->low > 0 || interval->high < 0);
  }
  EXPECT_NEAR(found / 20000.0, 0.8, 4 * std::sqrt(0.8 * 0.2 / 20000));
}

}  // namespace intervals_test
}  // namespace hyfreedp::results
