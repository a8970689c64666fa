#include "harness/trial/event_tally.h"

#include <gtest/gtest.h>

#include "harness/accounting/accountant.h"

namespace hyfreedp::trial {
namespace event_tally_test {

using accounting::Batch;
using accounting::Event;

Event steps(std::int64_t count, double noise = 1.5, const std::string& split = "private_train") {
  auto event = accounting::poisson_gaussian(0.02, noise, count);
  event.split = split;
  return event;
}

std::int64_t count_of(const Event& event) { return std::get<Batch>(event.what).count; }

TEST(EventTally, EqualKindsAreOneEvent) {
  EventTally tally;
  EXPECT_TRUE(tally.empty());
  for (int run = 0; run < 1000; ++run) tally.add(steps(250));
  tally.add(steps(3, 1.6));
  tally.add(steps(4, 1.5, "private_validation"));
  const auto events = tally.events();
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(count_of(events[0]), 250000);
  EXPECT_EQ(count_of(events[1]), 3);
  EXPECT_EQ(events[2].split, "private_validation");
}

TEST(EventTally, BeyondAnotherIsWhatItHasMore) {
  const EventTally tally({steps(10), steps(3, 1.6), steps(4, 2.0)});
  const auto more = tally.beyond(EventTally({steps(12), steps(1, 1.6)})).events();
  ASSERT_EQ(more.size(), 2U);
  EXPECT_EQ(count_of(more[0]), 2);
  EXPECT_EQ(count_of(more[1]), 4);
  EXPECT_TRUE(tally.beyond(tally).empty());
}

TEST(EventTally, CostsWhatTheListCosts) {
  const std::vector<Event> list{steps(10), steps(5, 2.0), steps(10), steps(7, 2.0)};
  const auto of_list = accounting::report_epsilon({.events = list}, 1e-5);
  const auto of_tally = accounting::report_epsilon({.events = EventTally(list).events()}, 1e-5);
  EXPECT_NEAR(of_list->epsilon, of_tally->epsilon, 1e-9);
}

TEST(EventTally, SelectionsAreRepeated) {
  const Event selection{accounting::Selection{.mean = 3, .base = {steps(10, 3.0, "")}}, "private_train"};
  EventTally tally;
  tally.add(selection);
  ASSERT_TRUE(std::holds_alternative<accounting::Selection>(tally.events().at(0).what));
  tally.add(selection);
  ASSERT_EQ(tally.events().size(), 1U);
  const auto twice = accounting::report_epsilon({.events = {selection, selection}}, 1e-5);
  const auto repeated = accounting::report_epsilon({.events = tally.events()}, 1e-5);
  EXPECT_NEAR(twice->epsilon, repeated->epsilon, 1e-9);
  EXPECT_EQ(tally.events().at(0).split, "private_train");
}

TEST(EventTally, TheDearestRunContainsEachRun) {
  const EventTally plain({steps(250)});
  const EventTally restarted({steps(128), steps(250)});
  const EventTally other({steps(100), steps(9, 2.0)});
  auto dearest = plain;
  dearest.raise_to(restarted);
  dearest.raise_to(other);
  for (const auto* run : {&plain, &restarted, &other}) EXPECT_TRUE(dearest.contains(*run));
  EXPECT_FALSE(plain.contains(restarted));
  const auto events = dearest.events();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(count_of(events[0]), 378);
  EXPECT_EQ(count_of(events[1]), 9);
}

}  // namespace event_tally_test
}  // namespace hyfreedp::trial
