// What several folders have of one seeded run is each charged.
#include "harness/runner/upkeep/held_runs.h"

#include <gtest/gtest.h>

#include "harness/mechanism/releases.h"
#include "harness/trial/event_tally.h"
#include "tests/trial/fixtures.h"

namespace hyfreedp::runner {
namespace held_runs_test {

using trial::ChargedAttempt;

std::vector<accounting::Event> steps(std::int64_t count) {
  return mechanism::events(trial::private_config(count));
}

std::int64_t charged(const std::vector<ChargedAttempt>& all) {
  std::int64_t count = 0;
  while (trial::EventTally(trial::events_of(all)).contains(trial::EventTally(steps(count + 1)))) ++count;
  return count;
}

TEST(AddAttempts, OneOfANameIsOneReleaseAndOneWithoutAnyMayBeAnother) {
  std::vector<ChargedAttempt> all{{"a", steps(3)}};
  add_attempts(all, {{"a", steps(5)}, {"b", steps(2), steps(4)}});
  EXPECT_EQ(charged(all), 11);
  add_attempts(all, {{"a", steps(4)}, {"b", steps(2)}});
  EXPECT_EQ(charged(all), 11);
  add_attempts(all, {{"", steps(3)}, {"", steps(3)}});
  EXPECT_EQ(charged(all), 17);
  add_attempts(all, {{"c", steps(2)}, {"", steps(1)}});
  EXPECT_EQ(charged(all), 20) << "none stands for another";
}

}  // namespace held_runs_test
}  // namespace hyfreedp::runner
