// Properties of PLD answers on 10,816 random mechanisms, seeded; an eighth of them without
// HYFREEDP_SLOW=1. Lower <= reported upper = min(PLD, RDP); monotone in rate, noise, steps and
// delta; free of the order of composition; a part below the whole; a folded batch above each of its
// releases; replace-one above add/remove; delta of epsilon. The bracket's relative width is at most
// kWidth, which is the tolerance of every comparison between two PLD answers. (Renyi divergences
// have 7,600 cases of their own.)
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <tuple>

#include "harness/accounting/accountant.h"
#include "harness/accounting/rdp.h"

namespace hyfreedp::accounting {
namespace property_test {

constexpr double kWidth = 1e-3;
constexpr double kFloor = 1e-4;  // below this epsilon the lattice is no finer

// Of `all` random mechanisms, how many a test draws.
int drawn(int all) { return std::getenv("HYFREEDP_SLOW") == nullptr ? all / 8 : all; }

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  double log_uniform(double low, double high) { return std::exp(uniform(std::log(low), std::log(high))); }
  std::int64_t whole(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  double rate() { return log_uniform(2e-3, 1); }
  double noise() { return log_uniform(0.5, 30); }
  double delta() { return log_uniform(1e-12, 1e-2); }
  std::int64_t steps() { return static_cast<std::int64_t>(log_uniform(1, 2000)); }

 private:
  std::mt19937_64 engine_;
};

Events steps_of(double rate, double noise, std::int64_t steps) {
  return {Neighbouring::add_remove, {poisson_gaussian(rate, noise, steps)}};
}

double upper(const Events& events, double delta) {
  const auto answer = epsilon_pld(events, delta);
  EXPECT_TRUE(answer.has_value()) << answer.error().message;
  return answer->epsilon;
}

// a <= b up to the bracket's width.
void expect_ordered(double a, double b, const std::string& what) {
  EXPECT_LE(a, b * (1 + kWidth) + kWidth * kFloor) << what;
}

TEST(AccountingProperty, LowerIsBelowUpperWhichIsBelowRdp) {
  Draw draw(1);
  for (int i = 0; i < drawn(6000); ++i) {
    const double q = draw.rate(), sigma = draw.noise(), delta = draw.delta();
    const auto steps = draw.steps();
    const auto report = report_epsilon(steps_of(q, sigma, steps), delta);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    const auto where = ::testing::Message() << q << " " << sigma << " " << steps << " " << delta;
    EXPECT_LE(report->epsilon_lower, report->epsilon) << where;
    EXPECT_EQ(report->epsilon, std::min(*report->pld, *report->rdp)) << where;
    expect_ordered(*report->pld, *report->rdp, "PLD v. RDP");
    EXPECT_LE(*report->pld - report->epsilon_lower, kWidth * std::max(*report->pld, kFloor)) << where;
  }
}

// In parts, so that several processes share them.
class AccountingMonotone : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Parts, AccountingMonotone, ::testing::Range(0, 4));

// Along a ladder of small steps in each direction: a jump of some percent shows nowhere else.
TEST_P(AccountingMonotone, InRateNoiseStepsAndDelta) {
  constexpr double kStep = 1.04;
  Draw draw(200 + GetParam());
  for (int i = 0; i < drawn(192); ++i) {
    const double q = draw.rate(), sigma = draw.noise(), delta = draw.delta();
    const auto steps = draw.steps();
    double rate = upper(steps_of(q, sigma, steps), delta), noise = rate, length = rate, less = rate;
    for (double factor = kStep; factor < 1.2; factor *= kStep) {
      const auto more = static_cast<std::int64_t>(std::ceil(static_cast<double>(steps) * factor));
      const auto climb = [&](double& last, double next, bool up, const char* what) {
        expect_ordered(up ? last : next, up ? next : last, what);
        last = next;
      };
      climb(rate, upper(steps_of(std::min(1.0, q * factor), sigma, steps), delta), true, "rate");
      climb(noise, upper(steps_of(q, sigma * factor, steps), delta), false, "noise");
      climb(length, upper(steps_of(q, sigma, more), delta), true, "steps");
      climb(less, upper(steps_of(q, sigma, steps), std::min(0.5, delta * factor)), false, "delta");
    }
  }
}

// Losses in rare jumps: a plan that misses the answer must not end the search.
TEST(AccountingProperty, MoreNoiseNeverCostsMoreWhereLossesAreRareJumps) {
  for (const auto neighbouring : {Neighbouring::add_remove, Neighbouring::replace_one}) {
    for (const auto& [rate, steps, delta] :
         {std::tuple{1e-6, 100'000, 1e-10}, std::tuple{1e-5, 2'000, 1e-12}, std::tuple{1e-4, 300, 1e-8}}) {
      double last = std::numeric_limits<double>::infinity();
      for (double noise = 0.38; noise < 0.8; noise *= 1.07) {
        Events events = steps_of(rate, noise, steps);
        events.neighbouring = neighbouring;
        const auto answer = epsilon_pld(events, delta);
        ASSERT_TRUE(answer.has_value()) << answer.error().message;
        EXPECT_LE(answer->epsilon, last) << rate << " " << steps << " " << noise;
        EXPECT_LE(answer->epsilon - answer->epsilon_lower, kWidth * answer->epsilon) << rate << " " << noise;
        last = answer->epsilon;
      }
    }
  }
}

// Known values: a lattice of 2^21 and 2^22 points with an untilted Fourier transform in 80-bit
// numbers, powers by log1p; both lengths agree to 3e-6 (numpy and scipy, made for this test).
TEST(AccountingProperty, RareJumpsKnownValues) {
  const std::pair<double, double> known[] = {{0.40, 3.817831}, {0.45, 1.700509}, {0.60, 0.0561265}};
  for (const auto& [noise, epsilon] : known) {
    const auto answer = epsilon_pld(steps_of(1e-6, noise, 100'000), 1e-10);
    ASSERT_TRUE(answer.has_value());
    EXPECT_NEAR(answer->epsilon / epsilon, 1, 1e-3) << noise;
    EXPECT_GE(answer->epsilon, epsilon * (1 - 1e-5)) << noise;
    EXPECT_LE(answer->epsilon_lower, epsilon * (1 + 1e-5)) << noise;
    EXPECT_GE(answer->epsilon_lower, epsilon * (1 - 1e-3)) << noise;
  }
}

TEST(AccountingProperty, CompositionDoesNotDependOnTheOrder) {
  Draw draw(3);
  std::mt19937_64 shuffler(4);
  for (int i = 0; i < drawn(900); ++i) {
    Events events;
    const auto count = draw.whole(2, 5);
    for (std::int64_t k = 0; k < count; ++k) {
      events.events.push_back(poisson_gaussian(draw.rate(), draw.noise(), draw.whole(1, 100)));
    }
    const double delta = draw.delta();
    const double before = upper(events, delta);
    std::shuffle(events.events.begin(), events.events.end(), shuffler);
    EXPECT_EQ(upper(events, delta), before);
    // A part costs at most the whole.
    Events part = events;
    part.events.pop_back();
    expect_ordered(upper(part, delta), before, "part");
  }
}

TEST(AccountingProperty, AFoldedBatchCostsAtLeastEachOfItsReleases) {
  Draw draw(5);
  for (int i = 0; i < drawn(1000); ++i) {
    const double q = draw.rate(), delta = draw.delta();
    const auto steps = draw.whole(1, 500);
    const Release first{draw.noise()};
    const Release second{draw.noise(), draw.whole(1, 4)};
    const double folded = upper({{}, {batch(q, {first, second}, steps)}}, delta);
    expect_ordered(upper({{}, {batch(q, {first}, steps)}}, delta), folded, "first");
    expect_ordered(upper({{}, {batch(q, {second}, steps)}}, delta), folded, "second");
    // Sharing the batch is never cheaper than what Algorithm 2 claims for it, batches of their own.
    expect_ordered(upper({{}, {batch(q, {first}, steps), batch(q, {second}, steps)}}, delta) * 0.9,
                   folded * 1.0, "unfolded");
  }
}

TEST(AccountingProperty, ReplaceOneCostsMoreThanAddRemoveAndLessThanTwiceTheDistance) {
  Draw draw(6);
  for (int i = 0; i < drawn(300); ++i) {
    const double q = draw.rate(), sigma = draw.noise(), delta = draw.delta();
    const auto steps = draw.whole(1, 300);
    auto events = steps_of(q, sigma, steps);
    const double add_remove = upper(events, delta);
    events.neighbouring = Neighbouring::replace_one;
    expect_ordered(add_remove, upper(events, delta), "replace-one");
  }
}

TEST(AccountingProperty, DeltaOfEpsilonIsDelta) {
  Draw draw(7);
  for (int i = 0; i < drawn(400); ++i) {
    const auto events = steps_of(draw.rate(), draw.noise(), draw.whole(1, 300));
    const double delta = draw.delta();
    const auto epsilon = epsilon_pld(events, delta);
    if (epsilon->epsilon < 1e-3 || epsilon->epsilon > 100) continue;
    const auto back = delta_pld(events, epsilon->epsilon);
    ASSERT_TRUE(back.has_value());
    EXPECT_LE(back->delta_lower, delta * (1 + 1e-6));
    EXPECT_NEAR(back->delta / delta, 1, 0.05);
  }
}

// Next to no noise: losses of hundreds in one step, where exponentials overflow.
TEST(AccountingProperty, LittleNoiseNeverCostsLessThanItsParts) {
  Draw draw(9);
  for (int i = 0; i < 16; ++i) {
    const double q = draw.log_uniform(1e-4, 0.9), sigma = draw.log_uniform(0.02, 0.4), delta = draw.delta();
    const auto steps = draw.whole(2, 100);
    const auto where = ::testing::Message() << q << " " << sigma << " " << steps << " " << delta;
    const auto whole = epsilon_pld(steps_of(q, sigma, steps), delta);
    ASSERT_TRUE(whole.has_value()) << where;
    const auto part = epsilon_pld(steps_of(q, sigma, 1), delta);
    ASSERT_TRUE(part.has_value()) << where;
    EXPECT_GE(whole->epsilon, part->epsilon_lower * (1 - 1e-9)) << where;
    EXPECT_LE(whole->epsilon_lower, whole->epsilon) << where;
    // Full batches with the same noise cost at least as much.
    EXPECT_LE(whole->epsilon_lower, upper(steps_of(1, sigma, steps), delta)) << where;
    // A costly event beside many cheap ones.
    Events mixed = steps_of(0.02, 1.6, 250);
    const double cheap = epsilon_pld(mixed, delta)->epsilon_lower;
    mixed.events.push_back(poisson_gaussian(q, sigma, 1));
    const auto both = epsilon_pld(mixed, delta);
    ASSERT_TRUE(both.has_value()) << where;
    EXPECT_GE(both->epsilon, cheap) << where;
    EXPECT_GE(both->epsilon, part->epsilon_lower * (1 - 1e-9)) << where;
    EXPECT_LE(both->epsilon_lower, both->epsilon) << where;
  }
}

TEST(AccountingProperty, LittleNoiseKnownValues) {
  // q = .02, 250 steps, delta 1e-5: the same lattice on both sides of the overflow that once made
  // epsilon 0.
  const std::pair<double, double> known[] = {
      {0.0352, 6773.8}, {0.036, 6472.7}, {0.04, 5228.7}, {0.045, 4117.0}, {0.05, 3323.1}};
  for (const auto& [sigma, epsilon] : known) {
    const auto answer = epsilon_pld(steps_of(0.02, sigma, 250), 1e-5);
    ASSERT_TRUE(answer.has_value());
    EXPECT_NEAR(answer->epsilon / epsilon, 1, 1e-4) << sigma;
    EXPECT_NEAR(answer->epsilon_lower / epsilon, 1, 1e-3) << sigma;
  }
}

TEST(AccountingProperty, RenyiDivergencesGrowWithTheOrderAndAgreeAcrossMethods) {
  Draw draw(8);
  for (int i = 0; i < 7600; ++i) {
    const Mechanism mechanism{Noise::gaussian, draw.log_uniform(1e-6, 1), draw.log_uniform(0.2, 1e4), 1};
    const double order = static_cast<double>(draw.whole(2, 64));
    const double at = renyi_divergence(mechanism, Neighbouring::add_remove, order);
    // Integer orders are summed and the others integrated: a continuous function either way.
    const double below = renyi_divergence(mechanism, Neighbouring::add_remove, order * (1 - 1e-9));
    EXPECT_NEAR(below / at, 1, 1e-5) << mechanism.sample_rate << " " << mechanism.noise_multiplier << " "
                                     << order;
    EXPECT_GE(renyi_divergence(mechanism, Neighbouring::add_remove, order + 0.5), at * (1 - 1e-9));
    EXPECT_LE(at, order / (2 * mechanism.noise_multiplier * mechanism.noise_multiplier) * (1 + 1e-9));
    EXPECT_GE(at, 0);
  }
}

}  // namespace property_test
}  // namespace hyfreedp::accounting
