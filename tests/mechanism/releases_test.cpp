// The list of releases: its events, whatever the periods, are what each step releases.
#include "harness/mechanism/releases.h"

#include <gtest/gtest.h>
#include <map>

#include "harness/accounting/accountant.h"
#include "harness/trial/event_tally.h"
#include "tests/trial/fixtures.h"

namespace hyfreedp::mechanism {
namespace {

trial::PrivacyPlan plan_with_all(bool separate, std::int64_t interval) {
  auto plan = trial::private_config().privacy;
  plan.clipping = trial::Clipping::adaptive;
  plan.clipping_constant = 0.1;
  plan.adaptive = trial::AdaptiveThreshold{.count_noise = 20};
  plan.feature_mean = trial::FeatureMean{.norm = 2, .noise = 30};
  plan.probe = trial::ProbePlan{.separate_batch = separate,
                                .sample_rate = separate ? 0.01 : 0,
                                .batch_size = 500,
                                .noise = 9,
                                .points = 3,
                                .interval = interval};
  return plan;
}

TEST(Releases, EventsOfARangeAreThoseOfItsSteps) {
  for (const bool separate : {false, true}) {
    for (const std::int64_t interval : {1, 2, 5, 1000}) {
      const auto plan = plan_with_all(separate, interval);
      for (const std::int64_t first : {0, 1, 7}) {
        trial::EventTally by_step;
        for (std::int64_t step = first; step < first + 40; ++step) by_step.add(events(plan, step, 1));
        const trial::EventTally at_once(events(plan, first, 40));
        EXPECT_TRUE(at_once.contains(by_step) && by_step.contains(at_once))
            << separate << ' ' << interval << ' ' << first;
      }
    }
  }
}

TEST(Releases, EachHasAPlaceOfItsOwnInTheStream) {
  auto config = trial::private_config();
  config.privacy = plan_with_all(true, 5);
  config.evaluation.score = trial::ScoreRelease{7};
  const auto list = releases(config);
  EXPECT_EQ(list.size(), 5U);
  std::map<std::pair<random::Purpose, std::uint8_t>, std::string> places;
  for (const auto& release : list) {
    const auto [place, is_new] = places.try_emplace({release.stream, release.lane}, release.purpose);
    EXPECT_TRUE(is_new) << release.purpose << " and " << place->second;
  }
}

TEST(Releases, WhatSharesTheGradientsBatchAtEveryStepIsTakenOffItsNoise) {
  auto plan = plan_with_all(false, 5);
  const double sigma = 1.5;
  const auto noise = gradient_noise_for(plan, sigma);
  ASSERT_TRUE(noise);
  EXPECT_NEAR(1 / (*noise * *noise) + 1.0 / (20 * 20), 1 / (sigma * sigma), 1e-8);
  plan.adaptive->count_noise = 1;
  EXPECT_FALSE(gradient_noise_for(plan, sigma));
}

// What the journal says of noise is what is priced.
TEST(Releases, LaplaceLossesArePricedAsSuch) {
  auto plan = plan_with_all(true, 5);
  plan.probe->sample_rate = 1;
  plan.probe->distribution = accounting::Noise::laplace;
  ASSERT_TRUE(plan.check());
  const auto read = trial::PrivacyPlan::from_json(plan.to_json(), "plan");
  ASSERT_TRUE(read);
  const auto laplace = accounting::epsilon_pld({.events = events(*read, 0, 10)}, 1e-5);
  plan.probe->distribution = accounting::Noise::gaussian;
  const auto gaussian = accounting::epsilon_pld({.events = events(plan, 0, 10)}, 1e-5);
  ASSERT_TRUE(laplace && gaussian);
  EXPECT_NE(laplace->epsilon, gaussian->epsilon);
}

}  // namespace
}  // namespace hyfreedp::mechanism
