// The list of releases: its events, whatever the periods, are what each step releases.
#include "harness/mechanism/releases.h"

#include <gtest/gtest.h>
#include <map>

#include "harness/accounting/accountant.h"
#include "harness/trial/event_tally.h"
#include "tests/trial/fixtures.h"

namespace hyfreedp::mechanism {
namespace releases_test {

trial::PrivacyPlan plan_with_all(bool separate, std::int64_t interval) {
  auto plan = trial::private_config().privacy;
  plan.clipping.rule = trial::ClippingRule::adaptive;
  plan.clipping.constant = 0.1;
  plan.clipping.adaptive = trial::AdaptiveThreshold{.count_noise = 20};
  plan.asked.feature_mean = trial::FeatureMean{.norm = 2, .noise = 30};
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

// Of the batches of the training split: how many there are, and how many releases of each purpose.
std::map<std::string, std::int64_t> counts_of(const std::vector<accounting::Event>& events) {
  std::map<std::string, std::int64_t> counts;
  for (const auto& event : events) {
    const auto& batch = std::get<accounting::Batch>(event.what);
    counts["batches"] += batch.count;
    for (const auto& release : batch.releases) counts[release.purpose] += batch.count * release.count;
  }
  return counts;
}

TEST(Releases, EventsHaveEachReleaseAsOftenAsItFallsDue) {
  for (const std::int64_t interval : {1, 2, 5, 1000}) {
    for (const std::int64_t first : {0, 1, 7}) {
      std::int64_t probes = 0;
      for (std::int64_t step = first; step < first + 40; ++step) probes += step % interval == 0 ? 1 : 0;
      const std::int64_t before = first == 0 ? 1 : 0;
      std::map<std::string, std::int64_t> due{{"gradient", 40}, {"clip-count", 40}, {"batches", 40 + before}};
      if (before > 0) due["feature-mean"] = 1;
      if (probes > 0) due["probe"] = 3 * probes;
      EXPECT_EQ(counts_of(events(plan_with_all(false, interval), first, 40)), due)
          << interval << ' ' << first;
      due["batches"] += probes;
      EXPECT_EQ(counts_of(events(plan_with_all(true, interval), first, 40)), due) << interval << ' ' << first;
    }
  }
}

// What a spec asks for is a member of the plan, and the plan's release.
TEST(Releases, WhatASpecAsksForIsInThePlan) {
  const auto asked = asked_releases();
  std::size_t members = 0;
  boost::mp11::mp_for_each<description::Members<trial::AskedReleases>>([&](auto member) {
    ASSERT_LT(members, asked.size());
    EXPECT_EQ(asked[members].member(), member.name);
    auto plan = trial::private_config().privacy;
    auto& release = (plan.asked.*decltype(member)::pointer).emplace();
    EXPECT_NE(find(releases(plan), asked[members].purpose), nullptr) << member.name;
    json::object numbers = as_json(release);
    EXPECT_EQ(numbers.size(), asked[members].options.size());
    for (const auto& option : asked[members].options) {
      EXPECT_TRUE(numbers.contains(option.name)) << asked[members].option(option);
    }
    ++members;
  });
  EXPECT_EQ(members, asked.size());
}

// In the gradient's place, one number at the same noise, and so at the same price.
TEST(Releases, AChangeOfLossesCostsWhatAGradientCosts) {
  auto plan = trial::private_config().privacy;
  plan.clipping.rule = trial::ClippingRule::abadi;
  plan.clipping.constant = 0.03;
  const auto gradient = releases(plan).front();
  plan.released = trial::Released::loss_change;
  ASSERT_TRUE(plan.check());
  const auto list = releases(plan);
  ASSERT_EQ(list.size(), 1U);
  const auto& change = list.front();
  EXPECT_EQ(change.purpose, "loss-change");
  EXPECT_EQ(change.values, 1);
  EXPECT_EQ(change.sensitivity, 0.03);
  EXPECT_EQ(change.divisor, gradient.divisor);
  EXPECT_EQ(counts_of(events(plan, 0, 250)),
            (std::map<std::string, std::int64_t>{{"loss-change", 250}, {"batches", 250}}));
  EXPECT_EQ(gradient_noise_for(plan, 1.25).value(), 1.25);
  const auto calibrated = accounting::calibrate_gaussian(0.02, 250, 3, 1e-5).value();
  plan.gradient_noise = calibrated.noise_multiplier;
  const auto cost = accounting::epsilon_pld({.events = events(plan, 0, 250)}, 1e-5);
  ASSERT_TRUE(cost);
  EXPECT_NEAR(cost->epsilon, calibrated.answer.epsilon, 1e-9);
  EXPECT_LE(cost->epsilon, 3);
}

TEST(Releases, AFeatureMeanNeedsFeatures) {
  const auto& mean = asked_releases().front();
  ASSERT_EQ(mean.purpose, trial::FeatureMean::kPurpose);
  EXPECT_EQ(mean.lacking({.features = 4}), "");
  EXPECT_EQ(mean.lacking({.features = 4, .labels = datasets::LabelKind::real}), "");
  EXPECT_NE(mean.lacking({.features = 4, .length = 4, .labels = datasets::LabelKind::tokens}), "");
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
  plan.clipping.adaptive->count_noise = 1;
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

}  // namespace releases_test
}  // namespace hyfreedp::mechanism
