#include "harness/accounting/selection.h"

#include <cmath>
#include <gtest/gtest.h>
#include <numbers>

namespace hyfreedp::accounting {
namespace selection_test {

using Distribution = Selection::Distribution;

Events select(Distribution distribution, double eta, double mean, double noise) {
  return {{}, {Event{Selection{distribution, eta, mean, {poisson_gaussian(1, noise, 1)}}, {}}}};
}

struct Few {
  double mean, noise, epsilon;
};

// Epsilon at delta 1e-5 of releasing the largest of K outputs, or that there was none, by
// quadrature.
TEST(PoissonSelection, AMeanBelowOneCostsAtLeastTheTruth) {
  const Few cases[] = {{0.5, 1, 4.212}, {0.5, 10, 0.322}, {0.01, 1, 3.139}, {0.9, 3, 1.262}};
  for (const auto& one : cases) {
    const auto answer = epsilon_rdp(select(Distribution::poisson, 1, one.mean, one.noise), 1e-5);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_GE(answer->epsilon, one.epsilon) << one.mean << " " << one.noise;
    EXPECT_LT(answer->epsilon, 2.5 * one.epsilon) << one.mean << " " << one.noise;
  }
}

// The alpha-th moment of the largest of K outputs of N(0, noise^2) against N(1, noise^2), either
// way, K = 0 included.
double true_divergence(double mean, double noise, double alpha, bool swapped) {
  const double low = -12 * noise - 30, high = 12 * noise + 30;
  constexpr int kCells = 20000;  // the integrand is smooth: this is exact to rounding
  const double width = (high - low) / kCells;
  double sum = std::exp(-mean);
  for (int i = 0; i < kCells; ++i) {
    const double x = low + (i + 0.5) * width;
    const auto log_density = [&](double centre) {
      const double z = (x - centre) / noise;
      return std::log(mean) - z * z / 2 - std::log(noise * std::sqrt(2 * std::numbers::pi)) -
             mean * 0.5 * std::erfc(z / std::sqrt(2.0));
    };
    const double p = log_density(swapped ? 0 : 1), q = log_density(swapped ? 1 : 0);
    sum += width * std::exp(alpha * p + (1 - alpha) * q);
  }
  return std::log(sum) / (alpha - 1);
}

TEST(PoissonSelection, TheCurveIsAboveTheTrueDivergence) {
  const auto& orders = default_orders();
  for (const double mean : {1e-3, 0.1, 0.5, 0.9, 0.999, 1.0, 1.2, 3.0}) {
    for (const double noise : {1.0, 3.0, 10.0}) {
      std::vector<double> base;
      for (const double order : orders) base.push_back(order / (2 * noise * noise));
      const auto curve = selection_curve({Distribution::poisson, 1, mean, 1, {}}, base, orders);
      for (std::size_t i = 0; i < orders.size(); ++i) {
        EXPECT_GE(curve[i], 0);
        if (orders[i] != 2 && orders[i] != 8 && orders[i] != 16 && orders[i] != 1.25) continue;
        for (const bool swapped : {false, true}) {
          EXPECT_GE(curve[i] * (1 + 1e-9) + 1e-12, true_divergence(mean, noise, orders[i], swapped))
              << mean << " " << noise << " " << orders[i];
        }
      }
    }
  }
}

TEST(PoissonSelection, NothingThatIsSelectedFromCostsNothing) {
  const std::vector<double> orders = {2, 4, 8};
  for (const double one : selection_curve({Distribution::poisson, 1, 0.5, 1, {}}, {0, 0, 0}, orders)) {
    EXPECT_EQ(one, 0);
  }
}

TEST(NegativeBinomial, TheInverseUndoesTheMean) {
  for (const double eta : {-0.9, -0.5, -1e-9, 0.0, 1e-12, 0.5, 1.0, 3.0, 50.0}) {
    for (const double mean : {1.0001, 2.0, 40.0, 1e6, 1e9}) {
      const double gamma = std::exp(-log_inverse_gamma_from_mean(eta, mean));
      EXPECT_NEAR(mean_from_gamma(eta, gamma) / mean, 1, 1e-7) << eta << " " << mean;
    }
  }
  EXPECT_EQ(log_inverse_gamma_from_mean(-0.99, 1), 0);
}

// gamma is e^-2532 here, below every double; the theorem evaluated with 60 digits.
TEST(NegativeBinomial, AShapeNearMinusOneCostsWhatTheTheoremSays) {
  EXPECT_NEAR(log_inverse_gamma_from_mean(-0.99, 1e9), (std::log(1e9) - std::log(0.99)) / 0.01, 1e-6);
  const auto answer = epsilon_rdp(select(Distribution::truncated_negative_binomial, -0.99, 1e9, 0.2), 1e-5);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_NEAR(answer->epsilon, 54.657, 0.01);
}

}  // namespace selection_test
}  // namespace hyfreedp::accounting
