// Confidence bounds and tails: against direct sums, closed forms, and by simulation.
#include <cmath>
#include <gtest/gtest.h>

#include "harness/audit/binomial.h"
#include "harness/audit/tail.h"
#include "harness/random/draws.h"

namespace hyfreedp::audit {
namespace bounds_test {

double summed(std::int64_t from, std::int64_t to, std::int64_t n, double p) {
  double sum = 0;
  for (std::int64_t k = from; k <= to; ++k) {
    const auto x = static_cast<double>(k);
    const auto m = static_cast<double>(n);
    sum += std::exp(std::lgamma(m + 1) - std::lgamma(x + 1) - std::lgamma(m - x + 1) + x * std::log(p) +
                    (m - x) * std::log1p(-p));
  }
  return sum;
}

TEST(Binomial, TailsAreSumsOfMasses) {
  for (const std::int64_t n : {1, 7, 60}) {
    for (const double p : {0.02, 0.5, 0.97}) {
      for (std::int64_t k = 0; k <= n; ++k) {
        EXPECT_NEAR(binomial_at_most(k, n, p), summed(0, k, n, p), 1e-12);
        EXPECT_NEAR(binomial_at_least(k, n, p), summed(k, n, n, p), 1e-12);
      }
    }
  }
  EXPECT_EQ(binomial_at_most(-1, 10, 0.5), 0);
  EXPECT_EQ(binomial_at_least(11, 10, 0.5), 0);
  EXPECT_EQ(binomial_at_most(0, 0, 0.5), 1);
  EXPECT_EQ(binomial_at_least(0, 0, 0.5), 1);
}

TEST(Binomial, BoundsAreWhereTheTailEqualsTheRate) {
  for (const double rate : {0.05, 1e-6}) {
    for (const std::int64_t n : {1, 20, 4000}) {
      for (const std::int64_t k : {std::int64_t{0}, n / 3, n - 1}) {
        EXPECT_NEAR(binomial_at_most(k, n, binomial_upper_bound(k, n, rate)) / rate, 1, 1e-6);
      }
      for (const std::int64_t k : {std::int64_t{1}, n / 3 + 1, n}) {
        EXPECT_NEAR(binomial_at_least(k, n, binomial_lower_bound(k, n, rate)) / rate, 1, 1e-6);
      }
    }
  }
}

TEST(Binomial, EdgesOfTheBounds) {
  EXPECT_EQ(binomial_upper_bound(10, 10, 0.05), 1);
  EXPECT_EQ(binomial_lower_bound(0, 10, 0.05), 0);
  EXPECT_EQ(binomial_upper_bound(0, 0, 0.05), 1);
  EXPECT_EQ(binomial_lower_bound(0, 0, 0.05), 0);
  EXPECT_NEAR(binomial_upper_bound(0, 100, 0.05), 1 - std::pow(0.05, 0.01), 1e-12);
  EXPECT_NEAR(binomial_lower_bound(100, 100, 0.05), std::pow(0.05, 0.01), 1e-12);
}

// False failure: none, the coverage is summed.
TEST(Binomial, BoundsCoverAtTheStatedRate) {
  constexpr std::int64_t kN = 60;
  for (const double rate : {0.05, 0.01}) {
    for (double p = 0.01; p < 1; p += 0.013) {
      double missed_above = 0;
      double missed_below = 0;
      for (std::int64_t k = 0; k <= kN; ++k) {
        const double mass = summed(k, k, kN, p);
        if (binomial_upper_bound(k, kN, rate) < p) missed_above += mass;
        if (binomial_lower_bound(k, kN, rate) > p) missed_below += mass;
      }
      EXPECT_LE(missed_above, rate) << p;
      EXPECT_LE(missed_below, rate) << p;
    }
  }
}

TEST(Tail, ChiSquareKnownValues) {
  EXPECT_NEAR(chi_square_two_sided(3.841458820694124, 1), 0.1, 1e-9);
  EXPECT_NEAR(chi_square_two_sided(2 * std::log(20.0), 2), 0.1, 1e-12);
  EXPECT_EQ(chi_square_two_sided(0, 5), 0);
  EXPECT_LT(chi_square_two_sided(4e6 * 1.01, 4e6), 1e-30);  // 4e6 residuals see 0.5 % in sigma
  EXPECT_GT(chi_square_two_sided(4e6 * 1.001, 4e6), 0.1);
  EXPECT_LT(chi_square_two_sided(1e30, 4e6), 1e-300);
}

// The bound on autocorrelations holds: over 2000 sequences of 60 normals, those beyond its 1 %
// point are at most what Bin(2000, 0.01) gives but for 1e-6. And it is not idle: its 1e-9 point
// lies below twice the normal one.
TEST(Tail, TheLeastOfSeveralIsOneWhereNothingWasTested) {
  EXPECT_EQ(of_several(1, 0), 1);
  EXPECT_EQ(of_several(0.25, 3), 0.75);
  EXPECT_EQ(of_several(0.5, 3), 1);
}

TEST(Tail, AutocorrelationBoundHoldsAndIsNotIdle) {
  random::Draws draws(random::key_from_seed("autocorrelation"), {});
  std::int64_t beyond = 0;
  for (int i = 0; i < 2000; ++i) {
    double sum = 0;
    double before = draws.normal();
    for (int t = 0; t < 60; ++t) {
      const double now = draws.normal();
      sum += before * now;
      before = now;
    }
    if (autocorrelation_two_sided(sum, 60) <= 0.01) ++beyond;
  }
  EXPECT_GT(binomial_at_least(beyond, 2000, 0.01), 1e-6) << beyond;
  EXPECT_LT(autocorrelation_two_sided(2 * 6.1 * std::sqrt(1e4), 1e4), 1e-9);
  // 7 deviations: e^{-49/2}
  EXPECT_NEAR(std::log(autocorrelation_two_sided(7e4, 1e8) / 2), -24.5, 0.05);
  EXPECT_EQ(quadratic_form_two_sided(0, 0, 0), 1);
  EXPECT_EQ(quadratic_form_two_sided(1, 0, 0), 0);
}

TEST(Tail, HoeffdingBoundIsWhereItsTailEqualsTheRate) {
  for (const double average : {0.003, 0.01, 0.5, 1.0}) {
    const double lower = hoeffding_lower_bound(average, 10000, 1e-3);
    EXPECT_LT(lower, average);
    EXPECT_NEAR(log_hoeffding_tail(average, lower, 10000), std::log(1e-3), 1e-4) << average;
  }
  EXPECT_EQ(hoeffding_lower_bound(0, 100, 0.01), 0);
  EXPECT_EQ(hoeffding_lower_bound(0.5, 0, 0.01), 0);
  EXPECT_EQ(log_hoeffding_tail(0.2, 0.3, 100), 0);
}

}  // namespace bounds_test
}  // namespace hyfreedp::audit
