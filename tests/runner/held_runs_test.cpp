// Attempts at a seeded run that several folders have are each charged.
#include "harness/runner/upkeep/held_runs.h"

#include <gtest/gtest.h>

#include "harness/mechanism/journal.h"
#include "harness/mechanism/releases.h"
#include "harness/trial/event_tally.h"
#include "tests/trial/fixtures.h"

namespace hyfreedp::runner {
namespace held_runs_test {

using trial::ChargedAttempt;

std::vector<accounting::Event> steps(std::int64_t count) {
  return mechanism::events(trial::private_config(count));
}

// The steps that are charged where one folder has `ours` of an attempt and the other `theirs`.
std::int64_t charged(const std::string& name, const ChargedAttempt& ours, const ChargedAttempt& theirs) {
  std::vector<ChargedAttempt> all{{name, ours.events, ours.rest}};
  add_seeded(all, {.charged = {{name, theirs.events, theirs.rest}}});
  std::int64_t count = 0;
  while (trial::EventTally(trial::events_of(all)).contains(trial::EventTally(steps(count + 1)))) ++count;
  return count;
}

TEST(AddSeeded, AFirstAttemptIsOneReleaseAndALaterOneMayBeTwo) {
  const auto first = mechanism::seeded_nonce(0), later = mechanism::seeded_nonce(1);
  const ChargedAttempt stopped{"", steps(3), steps(7)}, longer{"", steps(5), steps(5)};
  EXPECT_EQ(charged(first, {"", steps(3)}, {"", steps(5)}), 5);
  EXPECT_EQ(charged(later, stopped, stopped), 10);
  EXPECT_EQ(charged(later, stopped, longer), 10) << "both began at one step";
  EXPECT_EQ(charged(later, {"", steps(3)}, {"", steps(5)}), 8);
  EXPECT_EQ(charged(later, {"", steps(3), steps(4)}, {"", steps(3), steps(7)}), 17)
      << "they booked as much, from different steps";
}

}  // namespace held_runs_test
}  // namespace hyfreedp::runner
