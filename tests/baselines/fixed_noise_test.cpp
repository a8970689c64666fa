// A fixed noise multiplier: the gradients of every run have it, and the cell's epsilon is what the
// runs cost with it.
#include "baselines/fixed_noise.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "baselines/support.h"
#include "harness/base/text.h"
#include "tests/baselines/fake_world.h"

namespace hyfreedp::baselines {
namespace {

constexpr double kNoise = 3;

Cell cell_at(const Baseline& baseline, double noise, const json::object& options = {}) {
  auto cell = fake::cell_of(baseline, 1, options);
  cell.noise_multiplier = noise;
  return cell;
}

// With whatever else a panel's runs may release.
std::vector<Cell> cells_at(const Baseline& baseline, double noise, const json::object& options = {}) {
  const auto plain = cell_at(baseline, noise, options);
  auto with_mean = plain;
  with_mean.base.privacy.asked.feature_mean = trial::FeatureMean{.norm = 1, .noise = 5};
  auto with_counts = plain;
  with_counts.base.privacy.clipping.rule = trial::ClippingRule::adaptive;
  with_counts.base.privacy.clipping.adaptive = trial::AdaptiveThreshold{.count_noise = 4};
  return {plain, with_mean, with_counts};
}

double cost_of(const fake::Study& study, double delta) {
  return accounting::report_epsilon(fake::cost(study).value(), delta)->epsilon;
}

TEST(FixedNoise, EveryMethodTrainsAtItAndClaimsWhatItsRunsCost) {
  int trained = 0, refused = 0;
  for (const auto& entry : registry()) {
    auto ways = std::vector<json::object>{{}};
    const auto is_tuning = [](const OptionSpec& option) { return option.name == "tuning"; };
    if (std::ranges::any_of(entry.options, is_tuning))
      ways = {{{"tuning", "composed"}}, {{"tuning", "oracle"}}, {{"tuning", "selection"}}};
    for (const auto& options : ways) {
      SCOPED_TRACE(entry.name + " " + json::serialize(options));
      for (auto cell : cells_at(entry, kNoise, options)) {
        const auto& baseline = reading_of(entry, cell.options);
        const auto planned = planned_epsilon(baseline, cell);
        if (!entry.needs_epsilon.empty()) {
          ASSERT_FALSE(planned);
          EXPECT_EQ(planned.error().message, entry.name +
                                                 " cannot have a fixed noise multiplier, because it " +
                                                 entry.needs_epsilon + "; give it an 'epsilon' instead");
          ++refused;
          continue;
        }
        ASSERT_TRUE(planned) << planned.error().message;
        cell.epsilon = *planned;
        const auto study = fake::run_study(baseline, cell, fake::ordinary_world);
        ASSERT_FALSE(study.conclusion.failure) << study.conclusion.failure->message;
        for (const auto& trial : study.finished) EXPECT_EQ(trial.config.privacy.gradient_noise, kNoise);
        const double spent = cost_of(study, cell.delta);
        EXPECT_LE(spent, *planned);
        EXPECT_GT(spent, *planned * (1 - 2e-3));
        ++trained;
      }
    }
  }
  EXPECT_GT(trained, 30);
  EXPECT_EQ(refused, 3 * 6);
}

// Three losses at every fifth step are no part of a run of fixed noise, but scores, a feature mean
// and clip counts are; each raises the price.
TEST(FixedNoise, ThePriceHasAllThatIsReleased) {
  const auto& one = *find_baseline("fixed-rate").value();
  const auto cells = cells_at(one, kNoise);
  const double plain = planned_epsilon(one, cells[0]).value();
  EXPECT_GT(planned_epsilon(one, cells[1]).value(), plain * 1.1);
  EXPECT_GT(planned_epsilon(one, cells[2]).value(), plain * 1.1);
  const auto& entry = *find_baseline("dpsgd").value();
  const auto price = [&](const json::object& options) {
    const auto cell = cell_at(entry, kNoise, options);
    return planned_epsilon(reading_of(entry, cell.options), cell).value();
  };
  EXPECT_EQ(price({{"tuning", "oracle"}}), plain);
  EXPECT_GT(price({{"tuning", "composed"}, {"candidates", 4}}), plain * 1.5);
  EXPECT_GT(price({{"tuning", "composed"}, {"candidates", 4}, {"score_noise", 0.5}}),
            price({{"tuning", "composed"}, {"candidates", 4}}));
  EXPECT_GT(price({{"tuning", "selection"}}), plain * 1.5);
}

TEST(FixedNoise, ThePriceIsAnUpperBoundOfFourDigits) {
  const auto& one = *find_baseline("fixed-rate").value();
  for (const double noise : {0.05, 0.5, 1.0, 2.0, 7.0, 30.0}) {
    const auto cell = cell_at(one, noise);
    auto config = cell.base;
    config.privacy.gradient_noise = noise;
    const auto exact =
        accounting::report_epsilon({.events = fake::intended_events(config)}, cell.delta)->epsilon;
    const double planned = planned_epsilon(one, cell).value();
    EXPECT_GE(planned, exact);
    EXPECT_LE(planned, exact * 1.001);
    EXPECT_EQ(std::stod(short_number(planned)), planned);
  }
}

// As one would that somebody adds, and that sets its noise by the cell's epsilon alone.
TEST(FixedNoise, AMethodThatSetsItsOwnNoiseIsRefused) {
  Baseline own{.name = "own"};
  make_single_run(own, [](const Cell& cell) -> Result<trial::TrialConfig> { return at_rate(cell, 2, 0.1); });
  const auto planned = planned_epsilon(own, cell_at(own, kNoise));
  ASSERT_FALSE(planned);
  EXPECT_EQ(planned.error().message,
            "its method trains with noise multiplier 2 where the spec fixes 3; give it an 'epsilon' instead");
  EXPECT_TRUE(planned_epsilon(own, cell_at(own, 2)));
}

// Which of them is reported, and so what is spent, is known only after training.
TEST(FixedNoise, AnOracleOverLengthsIsRefused) {
  const auto& oracle = *find_baseline("nondp-gs").value();
  EXPECT_TRUE(planned_epsilon(oracle, cell_at(oracle, kNoise, {{"lengths", {12}}})));
  const auto planned = planned_epsilon(oracle, cell_at(oracle, kNoise, {{"lengths", {6, 12}}}));
  ASSERT_FALSE(planned);
  EXPECT_EQ(planned.error().message,
            "it reports one of runs that cost different epsilons; give it an 'epsilon' instead");
}

TEST(FixedNoise, NoiseWithoutAPriceIsRefused) {
  const auto& one = *find_baseline("fixed-rate").value();
  for (const double noise : {0.0, -1.0, static_cast<double>(NAN), static_cast<double>(INFINITY), 1e12}) {
    EXPECT_FALSE(planned_epsilon(one, cell_at(one, noise))) << noise;
  }
  EXPECT_FALSE(planned_epsilon(one, fake::cell_of(one, 1)));
}

}  // namespace
}  // namespace hyfreedp::baselines
