// Canary bounds and the one-run audit against the reference values of this project's notes and by
// simulation.
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/audit/binomial.h"
#include "harness/audit/canary_tests.h"
#include "harness/audit/one_run.h"
#include "tests/audit/simulated.h"

namespace hyfreedp::audit {
namespace canary_test {

constexpr double kDelta = 6.778e-6;

// Scores of `canaries` canaries over `steps` steps, each in by a fair coin
// (so that both error rates are well known).
CanaryScores simulated_scores(double sigma, std::int64_t canaries, std::int64_t steps, double rate,
                              const std::string& seed, double noise = 1) {
  random::Draws draws(random::key_from_seed("canaries " + seed), {});
  CanaryScores scores{"gradient", rate, steps, 1 / sigma, {}, {}};
  for (std::int64_t i = 0; i < canaries * steps; ++i) {
    const bool in = draws.uniform() < 0.5;
    const double score = noise * draws.normal() + (in ? 1 / sigma : 0);
    (in ? scores.in : scores.out).push_back(score);
  }
  return scores;
}

// 1000 canaries x 250 steps reach 2.48 of 2.53 and 6.69 of 6.82 at 95 %, a few hundredths more or
// less by chance.
TEST(Canaries, ComeCloseToTheTrueEpsilon) {
  for (const auto& [sigma, truth, reference] :
       {std::tuple{0.9229, 2.5326, 2.48}, std::tuple{0.6375, 6.816, 6.69}}) {
    const auto scores = simulated_scores(sigma, 1000, 250, 0.02, "reference");
    const double found = audited_epsilon({scores}, kDelta, 0.05).value().epsilon;
    std::cout << "  sigma " << sigma << ": epsilon >= " << found << " of " << truth << '\n';
    EXPECT_LT(found, truth);
    EXPECT_NEAR(found / reference, 1, 0.03);
  }
}

TEST(Canaries, KindsCompose) {
  const auto whole = simulated_scores(0.9, 400, 200, 0.02, "whole");
  auto half = whole;
  half.steps = 100;
  const double one = audited_epsilon({whole}, kDelta, 0.01).value().epsilon;
  const double two = audited_epsilon({half, half}, kDelta, 0.02).value().epsilon;
  EXPECT_NEAR(one, two, 1e-3);
}

TEST(Canaries, NothingSeenShowsNothing) {
  CanaryScores scores{"gradient", 0.02, 100, 1.5, {}, {}};
  EXPECT_EQ(canary_mu(scores, 0.05).mu, 0);
  scores.in = {3, 3, 3};
  EXPECT_EQ(canary_mu(scores, 0.05).mu, 0);
  EXPECT_EQ(audited_epsilon({scores}, 1e-5, 0.05).value().epsilon, 0);
  EXPECT_EQ(audited_epsilon({}, 1e-5, 0.05).value().epsilon, 0);
}

// A lower bound on mu at 10 % is above the true mu in at most that share; false failure 1e-4.
TEST(Canaries, MuBoundFailsNoMoreOftenThanStated) {
  std::int64_t above = 0;
  for (int seed = 0; seed < 400; ++seed) {
    const auto scores = simulated_scores(0.8, 20, 50, 0.3, std::to_string(seed));
    if (canary_mu(scores, 0.1).mu > 1 / 0.8) ++above;
  }
  EXPECT_GT(binomial_at_least(above, 400, 0.1), 1e-4) << above;
}

TEST(Canaries, AcceptTheRightScaleAndRejectBothWrongOnes) {
  const auto refuted = [](double noise) {
    Observations seen;
    seen.canaries = {simulated_scores(0.9, 20, 250, 0.05, "scale", noise)};
    return refuted_names(judge(seen, {100, 1e-5, "x"}, 1e-4).value());
  };
  EXPECT_THAT(refuted(1), ::testing::IsEmpty());
  EXPECT_THAT(refuted(2.0 / 3), ::testing::Contains("scores out, gradient"));
  EXPECT_THAT(refuted(3.0 / 2), ::testing::Contains("scores out, gradient"));
}

TEST(Canaries, ALargerMeanThanClaimedIsRefuted) {
  auto scores = simulated_scores(0.9, 20, 250, 0.05, "larger");
  for (double& score : scores.in) score += 0.5;
  Observations seen;
  seen.canaries = {scores};
  EXPECT_THAT(refuted_names(judge(seen, {100, 1e-5, "x"}, 1e-4).value()),
              ::testing::ElementsAre("scores in, gradient"));
}

// "Every guess right": 3.5, 5.8 and 7.4 for 100, 1000 and 5000 canaries at 95 %; delta takes a
// little off.
TEST(OneRun, CapsWhenEveryGuessIsRight) {
  for (const auto& [canaries, cap] : {std::pair{100, 3.5}, std::pair{1000, 5.8}, std::pair{5000, 7.4}}) {
    const double found = one_run_epsilon({canaries, canaries, canaries}, 0, 0.05);
    EXPECT_NEAR(found, cap, 0.05);
    const double right = std::pow(0.05, 1.0 / canaries);  // right^canaries = 0.05
    EXPECT_NEAR(found, std::log(right / (1 - right)), 1e-6);
    const double with_delta = one_run_epsilon({canaries, canaries, canaries}, kDelta, 0.05);
    EXPECT_LT(with_delta, found);
    EXPECT_GT(with_delta, found - 0.1);
  }
}

// With delta = 0 the p-value is a binomial tail.
TEST(OneRun, PureEpsilonIsABinomialTail) {
  const double right = 1 / (1 + std::exp(-1.0));
  EXPECT_NEAR(one_run_p_value({50, 30, 25}, 1, 0), binomial_at_least(25, 30, right), 1e-14);
  EXPECT_EQ(one_run_p_value({50, 30, 0}, 1, 0), 1);
  EXPECT_EQ(one_run_p_value({0, 0, 0}, 1, 1e-5), 1);
  EXPECT_EQ(one_run_epsilon({100, 100, 50}, 0, 0.05), 0);
  EXPECT_GT(one_run_p_value({100, 100, 95}, 2, 1e-3), one_run_p_value({100, 100, 95}, 2, 0));
}

// Randomized response at epsilon 2 is the worst case of delta = 0: the bound exceeds 2 in at most 5
// % of the runs (false failure 1e-4), and comes close.
TEST(OneRun, RandomizedResponse) {
  random::Draws draws(random::key_from_seed("randomized response"), {});
  const double right = 1 / (1 + std::exp(-2.0));
  std::int64_t above = 0;
  double mean = 0;
  for (int i = 0; i < 400; ++i) {
    std::int64_t correct = 0;
    for (int k = 0; k < 1000; ++k) correct += draws.uniform() < right ? 1 : 0;
    const double bound = one_run_epsilon({1000, 1000, correct}, 0, 0.05);
    mean += bound / 400;
    if (bound > 2) ++above;
  }
  EXPECT_GT(binomial_at_least(above, 400, 0.05), 1e-4) << above;
  EXPECT_GT(above, 2);
  EXPECT_GT(mean, 1.8);
}

TEST(OneRun, RefutesAClaimThatTheGuessesBelie) {
  Observations seen;
  seen.one_run = {{1000, 1000, 990}};
  EXPECT_THAT(refuted_names(judge(seen, {1, 1e-5, "x"}, 1e-4).value()), ::testing::ElementsAre("guesses"));
  EXPECT_THAT(refuted_names(judge(seen, {8, 1e-5, "x"}, 1e-4).value()), ::testing::IsEmpty());
}

}  // namespace canary_test
}  // namespace hyfreedp::audit
