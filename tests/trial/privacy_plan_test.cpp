#include "harness/trial/privacy_plan.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <utility>

#include "harness/mechanism/releases.h"
#include "tests/trial/fixtures.h"

namespace hyfreedp::trial {
namespace privacy_plan_test {

// Steps and probe batches that a list of events stands for, counted one by one.
struct Count {
  std::int64_t gradients = 0;
  std::int64_t losses = 0;
  std::int64_t shared_batches = 0;  // with both
};

Count count(const std::vector<accounting::Event>& events) {
  Count total;
  for (const auto& event : events) {
    const auto& batch = std::get<accounting::Batch>(event.what);
    bool gradient = false;
    bool loss = false;
    for (const auto& release : batch.releases) {
      (release.purpose == "gradient" ? gradient : loss) = true;
      (release.purpose == "gradient" ? total.gradients : total.losses) += batch.count * release.count;
    }
    if (gradient && loss) total.shared_batches += batch.count;
  }
  return total;
}

TEST(PrivacyPlan, GradientStepsOnly) {
  const auto plan = private_config().privacy;
  const auto events = mechanism::events(plan, 0, 250);
  ASSERT_EQ(events.size(), 1U);
  const auto& batch = std::get<accounting::Batch>(events[0].what);
  EXPECT_EQ(batch.count, 250);
  EXPECT_EQ(batch.sample_rate, 0.02);
  EXPECT_EQ(batch.releases.at(0).noise_multiplier, 1.5);
  EXPECT_EQ(events[0].split, "private_train");
}

TEST(PrivacyPlan, SameBatchProbesAreFoldedWithTheirGradient) {
  auto plan = private_config().privacy;
  plan.probe = ProbePlan{.batch_size = 1000, .noise = 9, .points = 3, .interval = 5};
  const auto total = count(mechanism::events(plan, 0, 251));
  EXPECT_EQ(total.gradients, 251);
  EXPECT_EQ(total.losses, 3 * 51);  // ceil(251 / 5) probes, t = 0 included
  EXPECT_EQ(total.shared_batches, 51);
}

TEST(PrivacyPlan, SeparateProbeBatchesAreTheirOwn) {
  auto plan = private_config().privacy;
  plan.probe = ProbePlan{
      .separate_batch = true, .sample_rate = 0.1, .batch_size = 5000, .noise = 6, .points = 3, .interval = 5};
  const auto total = count(mechanism::events(plan, 0, 250));
  EXPECT_EQ(total.gradients, 250);
  EXPECT_EQ(total.losses, 150);
  EXPECT_EQ(total.shared_batches, 0);
  // Each kind of batch at the rate and the noise that it is drawn and released with.
  for (const auto& event : mechanism::events(plan, 0, 250)) {
    const auto& batch = std::get<accounting::Batch>(event.what);
    const bool of_losses = batch.releases.at(0).purpose == "probe";
    EXPECT_EQ(batch.sample_rate, of_losses ? 0.1 : plan.sample_rate);
    EXPECT_EQ(batch.releases.at(0).noise_multiplier, of_losses ? 6 : plan.gradient_noise);
    EXPECT_EQ(event.split, kTrainSplit);
  }
}

// Noise that is nowhere priced would make a row look private.
TEST(PrivacyPlan, ARunThatIsNotPrivateHasNoNoiseAnywhere) {
  auto plan = private_config().privacy;
  plan.is_private = false;
  plan.gradient_noise = 0;
  ASSERT_TRUE(plan.check());
  const auto refused = [&](auto change) {
    auto noisy = plan;
    change(noisy);
    return !noisy.check();
  };
  EXPECT_TRUE(refused([](auto& noisy) { noisy.gradient_noise = 1; }));
  EXPECT_TRUE(refused([](auto& noisy) { noisy.asked.feature_mean = FeatureMean{.norm = 1, .noise = 1}; }));
  EXPECT_TRUE(refused([](auto& noisy) { noisy.probe = ProbePlan{.batch_size = 1000, .noise = 1}; }));
  EXPECT_TRUE(refused([](auto& noisy) {
    noisy.clipping.rule = ClippingRule::adaptive;
    noisy.clipping.adaptive = AdaptiveThreshold{.count_noise = 1};
  }));
}

TEST(PrivacyPlan, WithoutClippingNothingOfItIsLeft) {
  for (const bool adaptive : {false, true}) {
    auto plan = private_config().privacy;
    plan.is_private = false;
    plan.gradient_noise = 0;
    const auto never_clipped = [&] {
      auto plain = plan;
      plain.clipping.rule = ClippingRule::none;
      return plain.to_json();
    }();
    if (adaptive) {
      plan.clipping.rule = ClippingRule::adaptive;
      plan.clipping.adaptive = AdaptiveThreshold{};
    } else {
      plan.clipping.groups = ClippingGroups::per_layer;
      plan.clipping.shares = GroupShares::size;
    }
    plan.drop_clipping();
    EXPECT_EQ(plan.to_json(), never_clipped);
    EXPECT_TRUE(plan.check());
  }
}

TEST(PrivacyPlan, AnySplitOfTheStepsCostsTheSame) {
  for (const bool separate : {false, true}) {
    auto plan = private_config().privacy;
    plan.probe = ProbePlan{.separate_batch = separate,
                           .sample_rate = 0.02,
                           .batch_size = 1000,
                           .noise = 6,
                           .points = 3,
                           .interval = 7};
    const auto whole = count(mechanism::events(plan, 0, 100));
    for (std::int64_t cut = 0; cut <= 100; ++cut) {
      const auto head = count(mechanism::events(plan, 0, cut));
      const auto tail = count(mechanism::events(plan, cut, 100 - cut));
      EXPECT_EQ(head.gradients + tail.gradients, whole.gradients) << cut;
      EXPECT_EQ(head.losses + tail.losses, whole.losses) << cut;
      EXPECT_EQ(head.shared_batches + tail.shared_batches, whole.shared_batches) << cut;
    }
  }
}

TEST(PrivacyPlan, NonPrivateRunsCostNothing) {
  auto plan = private_config().privacy;
  plan.is_private = false;
  plan.gradient_noise = 0;
  ASSERT_TRUE(plan.check());
  EXPECT_TRUE(mechanism::events(plan, 0, 100).empty());
}

TEST(PrivacyPlan, RefusesWhatCannotBePriced) {
  const auto refused = [](auto change, const char* expected) {
    auto plan = private_config().privacy;
    change(plan);
    const auto checked = plan.check();
    ASSERT_FALSE(checked) << expected;
    EXPECT_NE(checked.error().message.find(expected), std::string::npos) << checked.error().message;
  };
  refused([](auto& plan) { plan.gradient_noise = 0; }, "noise");
  refused([](auto& plan) { plan.gradient_noise = std::nan(""); }, "noise");
  refused([](auto& plan) { plan.sampler = Sampler::shuffle; }, "shuffled");
  refused([](auto& plan) { plan.clipping.rule = ClippingRule::none; }, "clips");
  refused([](auto& plan) { plan.sample_rate = 1.5; }, "sample rate");
  refused([](auto& plan) { plan.sampler = Sampler::full_batch; }, "full batch");
  refused([](auto& plan) { plan.batch_size = 0; }, "batch size");
  refused([](auto& plan) { plan.probe = ProbePlan{.batch_size = 10, .noise = 0}; }, "loss noise");
}

PrivacyPlan adaptive_plan() {
  auto plan = private_config().privacy;
  plan.clipping.rule = ClippingRule::adaptive;
  plan.clipping.constant = 0.1;
  plan.clipping.adaptive = AdaptiveThreshold{.quantile = 0.4, .rate = 0.3, .count_noise = 40};
  return plan;
}

TEST(PrivacyPlan, EveryClippingStatesItsSensitivity) {
  auto plan = private_config().privacy;
  EXPECT_EQ(plan.clipping.sensitivity(), 1);
  plan.clipping.rule = ClippingRule::auto_v;
  plan.clipping.constant = 0;
  EXPECT_TRUE(plan.check());
  EXPECT_EQ(plan.clipping.sensitivity(), 1);
  plan.clipping.rule = ClippingRule::abadi;
  plan.clipping.constant = 0.7;
  EXPECT_EQ(plan.clipping.sensitivity(), 0.7);
  plan.clipping.groups = ClippingGroups::per_layer;
  plan.clipping.shares = GroupShares::size;
  EXPECT_TRUE(plan.check());
  EXPECT_EQ(plan.clipping.sensitivity(), 0.7);
  EXPECT_EQ(adaptive_plan().clipping.sensitivity(), 0.1);
  plan.drop_clipping();
  EXPECT_TRUE(std::isinf(plan.clipping.sensitivity()));
}

TEST(PrivacyPlan, ClipCountsAreFoldedWithTheirGradient) {
  auto plan = adaptive_plan();
  plan.probe = ProbePlan{.batch_size = 1000, .noise = 9, .points = 3, .interval = 5};
  std::int64_t counts = 0;
  for (const auto& event : mechanism::events(plan, 0, 251)) {
    const auto& releases = std::get<accounting::Batch>(event.what).releases;
    ASSERT_GE(releases.size(), 2U);
    EXPECT_EQ(releases[0].purpose, "gradient");
    EXPECT_EQ(releases[1].purpose, "clip-count");
    EXPECT_EQ(releases[1].noise_multiplier, 40);
    counts += std::get<accounting::Batch>(event.what).count;
  }
  EXPECT_EQ(counts, 251);
  plan.probe->separate_batch = true;
  plan.probe->sample_rate = 0.02;
  EXPECT_EQ(mechanism::events(plan, 0, 251).size(), 2U);  // the probe's own batch counts nothing
  EXPECT_EQ(std::get<accounting::Batch>(mechanism::events(plan, 0, 251)[1].what).releases.size(), 1U);
}

TEST(PrivacyPlan, WithoutNoiseItIsNotPrivate) {
  auto plan = private_config().privacy;
  plan.clipping.rule = ClippingRule::adaptive;
  plan.clipping.adaptive = AdaptiveThreshold{.count_noise = 5};
  plan.asked.feature_mean = FeatureMean{.norm = 3, .noise = 40};
  plan.probe = ProbePlan{.batch_size = 500, .noise = 9};
  ASSERT_TRUE(plan.check()) << plan.check().error().message;
  auto silent = plan;
  silent.is_private = false;
  EXPECT_FALSE(silent.check());
  silent.drop_noise();
  EXPECT_TRUE(silent.check()) << silent.check().error().message;
  // Each noise by itself is missed by a private plan, and too much for another one.
  const std::vector<std::function<double&(PrivacyPlan&)>> noises = {
      [](PrivacyPlan& one) -> double& { return one.gradient_noise; },
      [](PrivacyPlan& one) -> double& { return one.clipping.adaptive->count_noise; },
      [](PrivacyPlan& one) -> double& { return one.asked.feature_mean->noise; },
      [](PrivacyPlan& one) -> double& { return one.probe->noise; }};
  for (std::size_t i = 0; i < noises.size(); ++i) {
    auto without = plan;
    EXPECT_GT(std::exchange(noises[i](without), 0), 0) << i;
    EXPECT_FALSE(without.check()) << i;
    auto with = silent;
    noises[i](with) = 1;
    EXPECT_FALSE(with.check()) << i;
  }
}

TEST(PrivacyPlan, AFeatureMeanIsAFullBatchOfItsOwnOnce) {
  auto plan = private_config().privacy;
  const auto without = plan.to_json();
  EXPECT_FALSE(without.contains("feature_mean"));
  plan.asked.feature_mean = FeatureMean{.norm = 3, .noise = 40};
  const auto events = mechanism::events(plan, 0, 250);
  ASSERT_EQ(events.size(), 2U);
  const auto& mean = std::get<accounting::Batch>(events[0].what);
  EXPECT_EQ(mean.sample_rate, 1);
  EXPECT_EQ(mean.count, 1);
  EXPECT_EQ(mean.releases.at(0).noise_multiplier, 40);
  EXPECT_EQ(mean.releases.at(0).purpose, "feature-mean");
  EXPECT_EQ(events[0].split, "private_train");
  EXPECT_EQ(mechanism::events(plan, 0, 1).size(), 2U);
  EXPECT_EQ(mechanism::events(plan, 1, 249).size(), 1U);
  EXPECT_TRUE(mechanism::events(plan, 0, 0).empty());
  const auto again = PrivacyPlan::from_json(plan.to_json(), "plan");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->asked.feature_mean, plan.asked.feature_mean);

  plan.asked.feature_mean->noise = 0;
  EXPECT_FALSE(plan.check());
  plan.asked.feature_mean = FeatureMean{.norm = 0, .noise = 40};
  EXPECT_FALSE(plan.check());
  plan.is_private = false;
  plan.gradient_noise = 0;
  plan.asked.feature_mean = FeatureMean{.norm = 3, .noise = 40};
  EXPECT_FALSE(plan.check());
  plan.asked.feature_mean->noise = 0;
  EXPECT_TRUE(plan.check());
  EXPECT_TRUE(mechanism::events(plan, 0, 250).empty());
}

// Gradient and count together are one Gaussian of the noise asked for.
TEST(PrivacyPlan, TheGradientsNoiseLeavesRoomForTheCount) {
  auto plan = adaptive_plan();
  for (const double sigma : {0.5, 1.5, 30.0}) {
    const auto noise = mechanism::gradient_noise_for(plan, sigma);
    ASSERT_TRUE(noise);
    const double together = 1 / std::sqrt(1 / (*noise * *noise) + 1 / (40.0 * 40.0));
    EXPECT_GE(together, sigma);
    EXPECT_NEAR(together, sigma, 1e-5 * sigma);
  }
  EXPECT_FALSE(mechanism::gradient_noise_for(plan, 40));
  EXPECT_FALSE(mechanism::gradient_noise_for(plan, 50));
  EXPECT_EQ(mechanism::gradient_noise_for(private_config().privacy, 1.25).value(), 1.25);
}

TEST(PrivacyPlan, RefusesClippingsThatSayTwoThings) {
  const auto refused = [](PrivacyPlan plan, auto change, const char* expected) {
    change(plan);
    const auto checked = plan.check();
    ASSERT_FALSE(checked) << expected;
    EXPECT_NE(checked.error().message.find(expected), std::string::npos) << checked.error().message;
  };
  const auto plain = private_config().privacy;
  refused(
      adaptive_plan(), [](auto& plan) { plan.clipping.adaptive.reset(); }, "adaptive");
  refused(
      adaptive_plan(), [](auto& plan) { plan.clipping.rule = ClippingRule::abadi; }, "adaptive");
  refused(
      adaptive_plan(), [](auto& plan) { plan.clipping.adaptive->count_noise = 0; }, "clip count noise");
  refused(
      adaptive_plan(), [](auto& plan) { plan.clipping.adaptive->count_noise = std::nan(""); },
      "clip count noise");
  refused(
      adaptive_plan(), [](auto& plan) { plan.clipping.adaptive->quantile = 1.5; }, "quantile");
  refused(
      adaptive_plan(), [](auto& plan) { plan.clipping.adaptive->rate = 0; }, "rate");
  refused(
      adaptive_plan(), [](auto& plan) { plan.clipping.groups = ClippingGroups::per_layer; }, "per-layer");
  refused(
      plain, [](auto& plan) { plan.clipping.shares = GroupShares::size; }, "per-layer");
  refused(
      plain, [](auto& plan) { plan.clipping.constant = 0; }, "constant");
  refused(
      plain,
      [](auto& plan) {
        plan.clipping.rule = ClippingRule::abadi;
        plan.clipping.constant = std::numeric_limits<double>::infinity();
      },
      "finite");
  auto of_losses = plain;
  of_losses.released = Released::loss_change;
  refused(
      of_losses, [](auto&) {}, "clipping abadi");
  of_losses.clipping.rule = ClippingRule::abadi;
  of_losses.clipping.constant = 0.1;
  EXPECT_TRUE(of_losses.check());
  refused(
      of_losses, [](auto& plan) { plan.clipping.groups = ClippingGroups::per_layer; }, "layers");
  refused(
      of_losses, [](auto& plan) { plan.probe = ProbePlan{.batch_size = 1000, .noise = 2}; }, "probes");
  refused(
      of_losses, [](auto& plan) { plan.gradient_noise = 0; }, "noise");
  refused(
      of_losses, [](auto& plan) { plan.clipping.rule = ClippingRule::none; }, "clips");
  // A control arm may clip, adaptively too, but it has no noise anywhere.
  auto control = adaptive_plan();
  control.is_private = false;
  control.gradient_noise = 0;
  refused(
      control, [](auto&) {}, "no noise");
  control.clipping.adaptive->count_noise = 0;
  EXPECT_TRUE(control.check());
  EXPECT_TRUE(mechanism::events(control, 0, 10).empty());
}

// By hand: what clipping leaves to the rounding of sums (harness/trial/sum_rounding.h).
TEST(PrivacyPlan, SumsOfLargeBatchesAreWideAndOfTooLargeOnesRefused) {
  auto plan = private_config().privacy;
  const auto set = [&plan](double batch_size, std::int64_t population) {
    plan.population = population;
    plan.batch_size = batch_size;
    plan.sample_rate = batch_size / static_cast<double>(population);
  };
  set(1024, 50'000);  // up to 1024 + 8 * 32 + 32 samples
  EXPECT_DOUBLE_EQ(plan.rounding_of_sums(false), 2 * 64 * std::ldexp(1, -24) * 1312);
  EXPECT_DOUBLE_EQ(plan.rounding_of_sums(true), 2 * (4096 + 1312) * std::ldexp(1, -53) * 1312);
  EXPECT_FALSE(plan.has_wide_sums());
  set(50'000, 50'000);  // never more than all
  EXPECT_DOUBLE_EQ(plan.rounding_of_sums(false), 2 * 64 * std::ldexp(1, -24) * 50'000);
  EXPECT_TRUE(plan.has_wide_sums());
  set(1e7, 10'000'000);
  EXPECT_TRUE(plan.check()) << "a full batch of 1e7 is summed in float64";
  EXPECT_LT(plan.rounding_of_sums(true), 0.025);
  set(1e11, 100'000'000'000);
  const auto refused = plan.check();
  ASSERT_FALSE(refused);
  EXPECT_EQ(
      refused.error().message,
      "privacy plan: a batch of 1e+11 samples is too large to be summed: even in float64 rounding could "
      "move the sum by 2.22e+06 of the sensitivity, and 0.1 at most is allowed for; lower 'batch_size'");
  EXPECT_FALSE(PrivacyPlan::from_json(plan.to_json(), "spec.yaml:3"));
  plan.is_private = false;
  EXPECT_FALSE(plan.has_wide_sums());
}

// What the default does not have is not written: trials made before these fields were there keep
// their ids.
TEST(PrivacyPlan, FieldsOfOtherClippingsAreWrittenOnlyWithThem) {
  for (const char* key : {"released", "adaptive", "clipping_groups", "clipping_shares"}) {
    EXPECT_FALSE(private_config().privacy.to_json().contains(key)) << key;
  }
  EXPECT_FALSE(private_config().to_json().at("evaluation").as_object().contains("gradient_norms"));
  auto per_layer = private_config().privacy;
  per_layer.clipping.groups = ClippingGroups::per_layer;
  per_layer.clipping.shares = GroupShares::size;
  for (const auto& plan : {adaptive_plan(), per_layer}) {
    const auto back = PrivacyPlan::from_json(plan.to_json(), "test");
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(canonical_json(back->to_json()), canonical_json(plan.to_json()));
    EXPECT_EQ(back->clipping, plan.clipping);
  }
  auto wrong = per_layer.to_json();
  wrong["clipping_groups"] = "per-tensor";
  EXPECT_FALSE(PrivacyPlan::from_json(wrong, "test"));
  auto config = private_config();
  const auto id = config.id();
  config.evaluation.recorded.gradient_norms = true;
  EXPECT_NE(config.id(), id);
  EXPECT_TRUE(TrialConfig::from_json(config.to_json(), "test")->evaluation.recorded.gradient_norms);
}

TEST(PrivacyPlan, SurvivesJson) {
  auto plan = private_config().privacy;
  plan.probe = ProbePlan{.separate_batch = true,
                         .sample_rate = 0.1,
                         .batch_size = 5000,
                         .noise = 6.25,
                         .points = 3,
                         .interval = 5};
  const auto back = PrivacyPlan::from_json(plan.to_json(), "test");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(canonical_json(back->to_json()), canonical_json(plan.to_json()));
}

}  // namespace privacy_plan_test
}  // namespace hyfreedp::trial
