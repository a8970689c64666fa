// The adaptive threshold: against $HYFREEDP_REFERENCE_DIR/optimizers (schema quantile-clipping/1),
// and in whole runs.
#include "harness/training/adaptive_clipping.h"

#include <cmath>
#include <gtest/gtest.h>

#include "harness/accounting/accountant.h"
#include "harness/mechanism/release/noised_vector.h"
#include "harness/mechanism/releases.h"
#include "harness/training/norm_summary.h"
#include "harness/training/setup.h"
#include "tests/optimizers/reference_files.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace adaptive_clipping_test {

namespace reference = optimizers::reference;
using reference::as_double;
using reference::as_doubles;
using torch::Tensor;

constexpr double kTolerance = 1e-12;

class ReferenceTrainingThresholds : public reference::Suite {};

// The reference adds the raw count, ours the centred one: with n samples they differ by
// (m - n) / (2 m), exactly.
TEST_F(ReferenceTrainingThresholds, ClosedLoops) {
  for (const auto& file : reference::files_of("quantile-clipping/1")) {
    for (const auto& item : file.content.at("cases").as_array()) {
      const auto& object = item.as_object();
      const auto& options = object.at("options").as_object();
      SCOPED_TRACE(string_or(object, "name", ""));
      const double batch = double_or(options, "m", -1);
      const trial::AdaptiveThreshold adaptive{.quantile = double_or(options, "gamma", -1),
                                              .rate = double_or(options, "eta_c", -1),
                                              .count_noise = 2 * double_or(options, "sigma_b", -1)};
      const auto& trace = object.at("trace").as_object();
      const auto column = [&](const char* name) { return as_doubles(trace.at(name)); };
      const auto used = column("C_used"), unclipped = column("unclipped"), fraction = column("b");
      const auto next = column("C_next");
      const auto z = as_doubles(object.at("z"));
      for (std::size_t t = 0; t < used.size(); ++t) {
        const auto norms = torch::tensor(as_doubles(object.at("norms").as_array().at(t)), torch::kFloat64);
        const auto n = static_cast<double>(norms.numel());
        const double count = centred_clip_count(norms, used[t]);
        EXPECT_EQ(count, unclipped[t] - n / 2) << t;
        const double ours =
            noised({count, trial::kCountSensitivity}, adaptive.count_noise, batch, z[t]) + 0.5;
        EXPECT_NEAR(ours, fraction[t] + (batch - n) / (2 * batch), kTolerance) << t;
        if (options.contains("cmin")) continue;  // bounds of its own
        EXPECT_TRUE(reference::near(next_threshold(adaptive, used[t], fraction[t]), next[t], kTolerance))
            << t;
      }
      ++count_;
    }
    for (const auto& item : file.content.at("sigma_delta_table").as_array()) {
      trial::PrivacyPlan plan;
      plan.clipping.rule = trial::ClippingRule::adaptive;
      plan.clipping.adaptive = trial::AdaptiveThreshold{.count_noise = 2 * as_double(item.at("sigma_b"))};
      const auto noise = mechanism::gradient_noise_for(plan, as_double(item.at("z")));
      ASSERT_TRUE(noise);
      EXPECT_TRUE(reference::near(*noise, as_double(item.at("sigma_delta")), 2e-9));
      ++count_;
    }
  }
}

TEST(AdaptiveClipping, OneSampleMovesTheCountByHalfAtMost) {
  const auto norms = torch::tensor({0.1, 0.5, 0.5000001, 7.0, std::nan(""), 1.0 / 0.0}, torch::kFloat64);
  for (const double threshold : {1e-9, 0.1, 0.5, 3.0, 1e9}) {
    const double whole = centred_clip_count(norms, threshold);
    for (std::int64_t i = 0; i < norms.numel(); ++i) {
      const auto rest = at::cat({norms.narrow(0, 0, i), norms.narrow(0, i + 1, norms.numel() - i - 1)});
      const double moved = std::abs(whole - centred_clip_count(rest, threshold));
      EXPECT_EQ(moved, i < 4 ? 0.5 : 0.0) << i;
    }
  }
  EXPECT_EQ(centred_clip_count(torch::zeros({0}, torch::kFloat64), 1), 0);
}

TEST(AdaptiveClipping, TheThresholdStaysWithinItsBounds) {
  const trial::AdaptiveThreshold adaptive{.quantile = 0.5, .rate = 10, .count_noise = 1};
  EXPECT_EQ(next_threshold(adaptive, 1, 1e6), kLowestThreshold);
  EXPECT_EQ(next_threshold(adaptive, 1, -1e6), kHighestThreshold);
  EXPECT_EQ(next_threshold(adaptive, 0.7, 0.5), 0.7);
}

TEST(AdaptiveClipping, NoCountIsReleasedWithoutNoiseInAPrivateRun) {
  auto plan = small_config().privacy;
  plan.clipping.rule = trial::ClippingRule::adaptive;
  plan.clipping.constant = 0.1;
  plan.clipping.adaptive = trial::AdaptiveThreshold{.count_noise = 0};
  const auto norms = torch::ones({4}, torch::kFloat64);
  const auto key = random::key_from_seed("count");
  EXPECT_THROW(release_clip_fraction(plan, key, 0, 0, norms), std::logic_error);
  EXPECT_FALSE(plan.check());
  plan.clipping.adaptive->count_noise = 4;
  EXPECT_TRUE(plan.check());
  EXPECT_NE(release_clip_fraction(plan, key, 0, 0, norms), release_clip_fraction(plan, key, 1, 0, norms));
  EXPECT_NE(release_clip_fraction(plan, key, 0, 0, norms), release_clip_fraction(plan, key, 0, 1, norms));
}

trial::TrialConfig adaptive_config(std::int64_t steps, bool probes) {
  auto config = probes ? probing_config(false, steps) : small_config(steps);
  config.privacy.clipping.rule = trial::ClippingRule::adaptive;
  config.privacy.clipping.constant = 0.01;
  config.privacy.clipping.adaptive = trial::AdaptiveThreshold{.quantile = 0.5, .rate = 0.3, .count_noise = 6};
  return config;
}

mechanism::Journal journal_of(const trial::TrialConfig& config, const std::string& path) {
  const auto end = run_once(config, path);
  EXPECT_EQ(end.finish.state, trial::TrialState::finished) << end.finish.kind << ": " << end.finish.message;
  return mechanism::read_journal(path).value();
}

TEST(AdaptiveClipping, ARunFollowsItsReleasedFractions) {
  const TemporaryFolder folder;
  auto config = adaptive_config(60, false);  // 29 steps can raise the threshold 77-fold at most
  config.evaluation.recorded.gradient_norms = true;
  // weights hardly move, so norms stay
  config.controller = controller_named("constant", {{"lr", 1e-4}});
  const auto journal = journal_of(config, folder.file("a.jsonl"));
  double threshold = 0.01;
  for (const auto& step : journal.steps) {
    EXPECT_EQ(step.scalars.at("clip_threshold"), threshold);
    threshold =
        next_threshold(*config.privacy.clipping.adaptive, threshold, step.scalars.at("unclipped_fraction"));
  }
  // From far below every norm it climbs to where about half of them are below it.
  const auto ratio = [](const trial::StepRecord& step) {
    return step.scalars.at("clip_threshold") / step.scalars.at("norm_q50");
  };
  EXPECT_LT(ratio(journal.steps.front()), 0.1);
  EXPECT_GT(ratio(journal.steps.back()), 0.25);
  EXPECT_LT(ratio(journal.steps.back()), 4);
  EXPECT_EQ(hashes_of(journal_of(config, folder.file("b.jsonl"))), hashes_of(journal));
}

// The recorded hash is that of gradient, losses and the noised fraction together: of the very
// vector that was released.
TEST(AdaptiveClipping, TheReleaseHashCoversTheCount) {
  struct Keeper : mechanism::Observer {
    void vector_released(const mechanism::VectorSeen& seen) override { gradient = seen.released.clone(); }
    void values_released(const mechanism::ValuesSeen&) override {}
    void run_ended(const Tensor&) override {}
    Tensor gradient;
  } keeper;
  const TemporaryFolder folder;
  const auto config = adaptive_config(1, false);
  auto writer = mechanism::JournalWriter::open(folder.file("a.jsonl"), config, fingerprint(config.device));
  ASSERT_TRUE(writer);
  const auto dataset = data_of(config);
  const auto end = train({.config = config,
                          .dataset = dataset,
                          .key = seeded_key(config),
                          .journal = **writer,
                          .observer = &keeper});
  ASSERT_TRUE(end);
  const auto step = mechanism::read_journal(folder.file("a.jsonl")).value().steps.at(0);
  const std::vector<double> fraction{step.scalars.at("unclipped_fraction")};
  EXPECT_EQ(step.hash, release_hash(keeper.gradient, fraction));
  EXPECT_NE(step.hash, release_hash(keeper.gradient, {}));
}

TEST(AdaptiveClipping, CountsAreBookedOnTheGradientsBatch) {
  for (const bool probes : {false, true}) {
    const TemporaryFolder folder;
    const auto config = adaptive_config(12, probes);
    const auto journal = journal_of(config, folder.file("a.jsonl"));
    std::int64_t counts = 0;
    for (const auto& event : journal.executed) {
      const auto& batch = std::get<accounting::Batch>(event.what);
      ASSERT_EQ(batch.releases.at(0).purpose, "gradient");
      ASSERT_EQ(batch.releases.at(1).purpose, "clip-count");
      EXPECT_EQ(batch.releases[1].noise_multiplier, 6);
      counts += batch.count;
    }
    EXPECT_EQ(counts, 12);
    auto without = config.privacy;
    without.clipping.rule = trial::ClippingRule::abadi;
    without.clipping.adaptive.reset();
    const auto dear = accounting::epsilon_pld({.events = journal.executed}, 1e-5);
    const auto cheap = accounting::epsilon_pld({.events = mechanism::events(without, 0, 12)}, 1e-5);
    ASSERT_TRUE(dear && cheap);
    EXPECT_GT(dear->epsilon, cheap->epsilon * 1.001);
  }
}

TEST(GradientNorms, AreJournalledForPublicDataOnly) {
  const TemporaryFolder folder;
  auto config = small_config(3);
  config.evaluation.recorded.gradient_norms = true;
  const auto journal = journal_of(config, folder.file("a.jsonl"));
  for (const auto& step : journal.steps) {
    EXPECT_GE(step.scalars.at("norm_max"), step.scalars.at("norm_q50"));
    EXPECT_GT(step.scalars.at("norm_q05"), 0);
    EXPECT_LE(step.scalars.at("clipped_fraction"), 1);
  }
  const auto plain = journal_of(small_config(3), folder.file("b.jsonl"));
  EXPECT_FALSE(plain.steps.at(0).scalars.contains("norm_max"));

  config.dataset = {"fashion-mnist", {{"features", "hog"}}};
  const auto refused = set_up(config, data_of(small_config()));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, "invalid-config");
  EXPECT_NE(refused.error().message.find("public"), std::string::npos) << refused.error().message;
}

TEST(GradientNorms, SummaryOfFewSamples) {
  std::map<std::string, double> scalars;
  add_norm_summary({torch::zeros({0}, torch::kFloat64), torch::zeros({0}, torch::kBool)}, scalars);
  EXPECT_TRUE(scalars.empty());
  add_norm_summary(
      {torch::tensor({1.0, 3.0, std::nan("")}, torch::kFloat64), torch::tensor({false, true, true})},
      scalars);
  EXPECT_EQ(scalars.at("norm_q50"), 2);
  EXPECT_EQ(scalars.at("norm_max"), 3);
  EXPECT_NEAR(scalars.at("clipped_fraction"), 2.0 / 3, 1e-15);
}

}  // namespace adaptive_clipping_test
}  // namespace hyfreedp::training
