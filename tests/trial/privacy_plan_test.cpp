#include "harness/trial/privacy_plan.h"

#include <gtest/gtest.h>

#include "tests/trial/fixtures.h"

namespace hyfreedp::trial {
namespace {

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
  const auto events = plan.events(0, 250);
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
  const auto total = count(plan.events(0, 251));
  EXPECT_EQ(total.gradients, 251);
  EXPECT_EQ(total.losses, 3 * 51);  // ceil(251 / 5) probes, t = 0 included
  EXPECT_EQ(total.shared_batches, 51);
}

TEST(PrivacyPlan, SeparateProbeBatchesAreTheirOwn) {
  auto plan = private_config().privacy;
  plan.probe = ProbePlan{
      .separate_batch = true, .sample_rate = 0.1, .batch_size = 5000, .noise = 6, .points = 3, .interval = 5};
  const auto total = count(plan.events(0, 250));
  EXPECT_EQ(total.gradients, 250);
  EXPECT_EQ(total.losses, 150);
  EXPECT_EQ(total.shared_batches, 0);
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
    const auto whole = count(plan.events(0, 100));
    for (std::int64_t cut = 0; cut <= 100; ++cut) {
      const auto head = count(plan.events(0, cut));
      const auto tail = count(plan.events(cut, 100 - cut));
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
  EXPECT_TRUE(plan.events(0, 100).empty());
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
  refused([](auto& plan) { plan.clipping = Clipping::none; }, "clips");
  refused([](auto& plan) { plan.sample_rate = 1.5; }, "sample rate");
  refused([](auto& plan) { plan.sampler = Sampler::full_batch; }, "full batch");
  refused([](auto& plan) { plan.batch_size = 0; }, "batch size");
  refused([](auto& plan) { plan.probe = ProbePlan{.batch_size = 10, .noise = 0}; }, "loss noise");
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

}  // namespace
}  // namespace hyfreedp::trial
