// An interval that holds at every look: against its definition, integrated numerically, and in
// simulated studies, where a t-interval that is looked at as often fails the same test.
#include "results/table/anytime_interval.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace hyfreedp::results {
namespace anytime_interval_test {

constexpr double kLevel = 0.95;
constexpr double kEffectVariance = 3;

// The Bayes factor from the values themselves: effect size ~ N(0, g), scale with the right Haar
// prior ds / s, over an effect size of 0 with the same prior. By the trapezoidal rule in log s and
// the effect size.
double bayes_factor(const std::vector<double>& values, double mean) {
  double sum = 0, squares = 0;
  for (const double value : values) {
    sum += value - mean;
    squares += (value - mean) * (value - mean);
  }
  const auto n = static_cast<double>(values.size());
  const double unit = std::sqrt(squares / n);
  constexpr double kStep = 0.04, kWidest = 12;
  double with = 0, without = 0;
  for (double log_scale = -4; log_scale < kWidest; log_scale += kStep) {
    const double s = unit * std::exp(log_scale);
    const double exponent = n * log_scale;
    without += std::exp(-exponent - squares / (2 * s * s));
    for (double effect = -kWidest; effect < kWidest; effect += kStep) {
      const double prior = std::exp(-effect * effect / (2 * kEffectVariance)) /
                           std::sqrt(2 * std::acos(-1.0) * kEffectVariance);
      const double distance = squares / (s * s) - 2 * effect * sum / s + n * effect * effect;
      with += prior * std::exp(-exponent - distance / 2) * kStep;
    }
  }
  return with / without;
}

TEST(AnytimeInterval, ItsEndsAreWhereTheBayesFactorReachesTheBound) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal(0.7, 1.3);
  for (const int n : {4, 7, 20}) {
    std::vector<double> values;
    for (int i = 0; i < n; ++i) values.push_back(normal(random));
    const auto interval = anytime_interval(values, kLevel);
    ASSERT_TRUE(interval) << n;
    for (const double end : {interval->low, interval->high}) {
      EXPECT_NEAR(bayes_factor(values, end) * (1 - kLevel), 1, 1e-4) << n;
    }
    EXPECT_LT(bayes_factor(values, (interval->low + 2 * interval->high) / 3), 1 / (1 - kLevel));
  }
}

TEST(AnytimeInterval, IsAbsentWhereTheValuesSayNothing) {
  EXPECT_FALSE(anytime_interval(std::vector<double>{}, kLevel));
  EXPECT_FALSE(anytime_interval(std::vector<double>{1}, kLevel));
  EXPECT_FALSE(anytime_interval(std::vector<double>{1, 1, 1, 1, 1, 1, 1, 1}, kLevel));
  EXPECT_FALSE(anytime_interval(std::vector<double>{1, 2, 3}, kLevel)) << "three are too few for any bound";
  EXPECT_TRUE(anytime_interval(std::vector<double>{1, 2, 3}, 0.5));
}

// Half widths in sample standard deviations, as the header gives them; they grow with the level.
TEST(AnytimeInterval, IsAsWideAsTheHeaderSays) {
  const auto half = [](int n, double level) {
    std::vector<double> values;
    for (int i = 0; i < n; ++i) values.push_back(i);
    const auto interval = anytime_interval(values, level);
    return (interval->high - interval->low) / 2 / *sample_sd(values);
  };
  EXPECT_NEAR(half(5, kLevel), 2.44, 0.005);
  EXPECT_NEAR(half(10, kLevel), 1.24, 0.005);
  EXPECT_NEAR(half(20, kLevel), 0.80, 0.005);
  EXPECT_LT(half(10, 0.8), half(10, 0.9));
}

constexpr int kStudies = 2000;
constexpr int kFrom = 3, kTo = 20;
// Of 2000 studies that each err with probability at most 5 %, more than 150 err with probability
// 6e-7: this is how often a test below fails that ought to pass.
constexpr int kMostErring = 150;

using Draw = std::function<double(std::mt19937_64&)>;
using IntervalOf = std::function<std::optional<Interval>(std::span<const double>)>;

Draw normal_draw(double mean, double sd) {
  return [=](std::mt19937_64& random) { return std::normal_distribution<double>(mean, sd)(random); };
}

std::optional<Interval> anytime(std::span<const double> values) { return anytime_interval(values, kLevel); }
std::optional<Interval> looked_at_once(std::span<const double> values) {
  return mean_interval(values, kLevel);
}

// Studies in which an interval misses `mean` at any of the looks.
int missing(const Draw& draw, double mean, const IntervalOf& interval_of, std::uint64_t seed = 2026) {
  std::mt19937_64 random(seed);
  int count = 0;
  for (int study = 0; study < kStudies; ++study) {
    std::vector<double> values;
    bool missed = false;
    for (int n = 1; n <= kTo; ++n) {
      values.push_back(draw(random));
      if (n < kFrom) continue;
      const auto interval = interval_of(values);
      missed = missed || (interval && (mean < interval->low || mean > interval->high));
    }
    count += missed ? 1 : 0;
  }
  return count;
}

TEST(AnytimeInterval, MissesTheMeanAtAnyLookInFewStudies) {
  std::uint64_t seed = 1;
  for (const double mean : {0.0, 0.8}) {
    for (const double sd : {0.1, 30.0}) {
      const int count = missing(normal_draw(mean, sd), mean, anytime, seed++);
      EXPECT_LE(count, kMostErring) << "mean " << mean << ", sd " << sd;
      EXPECT_GE(count, 10) << "far wider than it need be";
    }
  }
}

// The test above can fail: by a t-interval, and by intervals of two thirds of the width.
TEST(AnytimeInterval, ATIntervalThatIsLookedAtSoOftenDoesNotHold) {
  EXPECT_GT(missing(normal_draw(0, 1), 0, looked_at_once), 2 * kMostErring);
  const auto narrower = [](std::span<const double> values) {
    auto interval = anytime(values);
    if (!interval) return interval;
    const double centre = (interval->low + interval->high) / 2, half = (interval->high - interval->low) / 3;
    return std::optional(Interval{centre - half, centre + half});
  };
  EXPECT_GT(missing(normal_draw(0, 1), 0, narrower), kMostErring);
}

struct Stopped {
  int wrong = 0;     // studies whose last interval misses the mean
  int decided = 0;   // studies that ended before their last seed, or with it
  double seeds = 0;  // on average
};

Stopped stopped(const Draw& draw, double mean, double narrower) {
  std::mt19937_64 random(7);
  Stopped result;
  for (int study = 0; study < kStudies; ++study) {
    std::vector<double> values;
    std::optional<Interval> interval;
    bool is_decided = false;
    while (static_cast<int>(values.size()) < kTo && !is_decided) {
      values.push_back(draw(random));
      if (static_cast<int>(values.size()) < kFrom) continue;
      interval = anytime(values);
      is_decided =
          interval && (interval->low > 0 || interval->high < 0 || interval->high - interval->low < narrower);
    }
    result.seeds += static_cast<double>(values.size()) / kStudies;
    result.decided += is_decided ? 1 : 0;
    result.wrong += interval && (mean < interval->low || mean > interval->high) ? 1 : 0;
  }
  return result;
}

// The interval at the look that ended the study, by either condition, is one to report.
TEST(AnytimeInterval, HoldsAtTheLookThatEndsTheStudy) {
  for (const double mean : {0.0, 0.3, 1.0, 3.0}) {
    EXPECT_LE(stopped(normal_draw(mean, 1), mean, 1.5).wrong, kMostErring) << mean;
  }
  // Without an effect, "excludes 0" is the error.
  EXPECT_LE(stopped(normal_draw(0, 1), 0, 0).decided, kMostErring);
}

// Of 20 seeds, by the mean difference in standard deviations. The tolerances are five standard
// errors of the mean over 2000 studies or more: a correct program fails with probability below
// 1e-5.
TEST(AnytimeInterval, TakesFewSeedsWhereTheEffectIsLarge) {
  EXPECT_NEAR(stopped(normal_draw(4, 1), 4, 0).seeds, 4.44, 0.15);
  EXPECT_NEAR(stopped(normal_draw(2, 1), 2, 0).seeds, 6.20, 0.25);
  const auto one = stopped(normal_draw(1, 1), 1, 0);
  EXPECT_NEAR(one.seeds, 12.7, 0.6);
  EXPECT_NEAR(one.decided, 1690, 85);
  EXPECT_GT(stopped(normal_draw(0, 1), 0, 0).seeds, 19.5);
}

// Normality is assumed: what happens without it, as the header says.
TEST(AnytimeInterval, SkewedAndHeavyTailedDifferences) {
  const auto heavy = [](std::mt19937_64& random) { return std::student_t_distribution<double>(3)(random); };
  EXPECT_LE(missing(heavy, 0, anytime), kMostErring);
  const auto skewed = [](std::mt19937_64& random) {
    return std::exponential_distribution<double>(1)(random);
  };
  const int count = missing(skewed, 1, anytime);
  EXPECT_GT(count, kMostErring);
  EXPECT_LT(count, kStudies / 5);
}

}  // namespace anytime_interval_test
}  // namespace hyfreedp::results
