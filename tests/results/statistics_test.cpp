#include "results/table/statistics.h"

#include <cmath>
#include <gtest/gtest.h>
#include <tuple>
#include <vector>

namespace hyfreedp::results {
namespace statistics_test {

TEST(Statistics, MeanAndSampleDeviation) {
  const std::vector<double> values = {80, 82, 84};
  EXPECT_DOUBLE_EQ(mean(values), 82);
  EXPECT_DOUBLE_EQ(*sample_sd(values), 2);  // sqrt(8 / 2)
  EXPECT_FALSE(sample_sd(std::vector<double>{5}));
  EXPECT_TRUE(std::isnan(mean({})));
}

TEST(Statistics, QuantilesInterpolate) {
  const std::vector<double> values = {4, 1, 3, 2};
  EXPECT_DOUBLE_EQ(quantile(values, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile(values, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(values, 1), 4);
  EXPECT_DOUBLE_EQ(quantile(values, 0.25), 1.75);
}

TEST(Statistics, WhiskersEndOutsideTheBox) {
  const auto even = box_plot({4, 1, 3, 2}, 1.5);
  EXPECT_EQ(std::tuple(even.least, even.low, even.middle, even.high, even.most),
            std::tuple(1, 1.75, 2.5, 3.25, 4));
  // The last value within reach is above the quartile between it and one that is not.
  const auto far = box_plot({95, 96.4, 96.5, 96.6}, 1.5);
  EXPECT_DOUBLE_EQ(far.low, 96.05);
  EXPECT_DOUBLE_EQ(far.least, 96.05);
  EXPECT_DOUBLE_EQ(far.most, 96.6);
  const auto one = box_plot({7}, 1.5);
  EXPECT_EQ(one.least, 7);
  EXPECT_EQ(one.most, 7);
}

TEST(Statistics, SharedSeedsArePaired) {
  // Differences 1, 2, 3: mean 2, sd 1, standard error 1/sqrt(3); t(0.975, 2) = 4.302653.
  const auto interval = difference_interval({{0, 11}, {1, 22}, {2, 33}}, {{0, 10}, {1, 20}, {2, 30}}, 0.95);
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->low, 2 - 4.302653 / std::sqrt(3.0), 1e-5);
  EXPECT_NEAR(interval->high, 2 + 4.302653 / std::sqrt(3.0), 1e-5);
}

TEST(Statistics, OtherSeedsGiveWelchsInterval) {
  // Equal variances 1 and n = 3 on both sides: 4 degrees of freedom, standard error sqrt(2/3);
  // t(0.975, 4) = 2.776445.
  const auto interval = difference_interval({{0, 11}, {1, 12}, {2, 13}}, {{5, 1}, {6, 2}, {7, 3}}, 0.95);
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->low, 10 - 2.776445 * std::sqrt(2.0 / 3), 1e-5);
}

TEST(Statistics, NoIntervalWithoutEvidence) {
  EXPECT_FALSE(difference_interval({{0, 1}}, {{0, 2}}, 0.95));
  EXPECT_FALSE(difference_interval({{0, 2}, {1, 3}}, {{0, 1}, {1, 2}}, 0.95))
      << "differences that do not vary";
}

}  // namespace statistics_test
}  // namespace hyfreedp::results
