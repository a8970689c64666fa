#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "harness/accounting/accountant.h"
#include "harness/base/json.h"

namespace hyfreedp::accounting {
namespace calibrate_test {

constexpr double kDelta = 6.7784905546796565e-06;

TEST(Calibrate, IsOneSidedAndTight) {
  for (const std::string accountant : {"pld", "rdp"}) {
    for (const double epsilon : {0.05, 1.0, 3.0, 8.0, 40.0}) {
      const auto found = calibrate_gaussian(0.02, 250, epsilon, kDelta, accountant);
      ASSERT_TRUE(found.has_value()) << found.error().message;
      const auto price = [&](double noise) {
        const Events events{{}, {poisson_gaussian(0.02, noise, 250)}};
        return (accountant == "pld" ? epsilon_pld(events, kDelta) : epsilon_rdp(events, kDelta))->epsilon;
      };
      EXPECT_LE(price(found->noise_multiplier), epsilon);
      EXPECT_GT(price(found->noise_multiplier * (1 - 1e-4)), epsilon) << accountant << " " << epsilon;
      EXPECT_EQ(found->answer.epsilon, price(found->noise_multiplier));
    }
  }
}

TEST(Calibrate, FullBatchIsTheClosedForm) {
  const auto found = calibrate_gaussian(1, 100, 0.01, 1e-5);
  EXPECT_NEAR(found->noise_multiplier / 2437.854376756948, 1, 1e-4);
  EXPECT_EQ(found->answer.epsilon, found->answer.epsilon_lower);
}

// The squares of mu add up: of several releases on all records as of one.
TEST(Calibrate, TheMuOfAnEpsilonIsTheAccountants) {
  for (const double epsilon : {0.05, 1.0, 3.0, 8.0}) {
    EXPECT_EQ(mu_of_epsilon(epsilon, kDelta, "pld").value(), gdp_mu(epsilon, kDelta).value());
    const double mu = mu_of_epsilon(epsilon, kDelta, "rdp").value();
    EXPECT_LT(mu, gdp_mu(epsilon, kDelta).value());
    EXPECT_NEAR(epsilon_of_mu(mu, kDelta, "rdp").value() / epsilon, 1, 1e-8);
    EXPECT_EQ(epsilon_of_mu(mu, kDelta, "pld").value(), gdp_epsilon(mu, kDelta).value());
    const Events events{{}, {poisson_gaussian(1, 5 / (3 * mu), 1), poisson_gaussian(1, 10 / (4 * mu), 4)}};
    EXPECT_NEAR(epsilon_rdp(events, kDelta)->epsilon / epsilon, 1, 1e-8);
  }
}

TEST(Calibrate, AnInfeasibleTargetSaysWhatIsReachable) {
  // Half of the budget is spent by an event whose noise is fixed.
  const auto found = calibrate(
      [](double noise) {
        return Events{{}, {poisson_gaussian(0.02, 0.9, 250), poisson_gaussian(0.02, noise, 250)}};
      },
      2, kDelta);
  ASSERT_FALSE(found.has_value());
  EXPECT_NE(found.error().message.find("2.6"), std::string::npos) << found.error().message;
  EXPECT_FALSE(calibrate_gaussian(0.02, 250, 0, 1e-5).has_value());
  EXPECT_FALSE(calibrate_gaussian(0.02, 250, std::numeric_limits<double>::quiet_NaN(), 1e-5).has_value());
  EXPECT_FALSE(calibrate_gaussian(0.02, 250, 1, 0).has_value());
  EXPECT_FALSE(calibrate_gaussian(0.02, 0, 1, 1e-5).has_value());
  EXPECT_FALSE(calibrate_gaussian(1.5, 10, 1, 1e-5).has_value());
  EXPECT_FALSE(calibrate_gaussian(0.02, 250, 1, 1e-5, "zcdp").has_value());
}

TEST(Calibrate, AGenerousTargetTakesTheLowestNoise) {
  const auto found = calibrate_gaussian(0.001, 1, 1e6, 1e-5);
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_NEAR(found->noise_multiplier, 0.01, 1e-9);
}

}  // namespace calibrate_test
}  // namespace hyfreedp::accounting
