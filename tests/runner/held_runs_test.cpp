// What several folders have of one seeded run is each charged.
#include "harness/runner/upkeep/held_runs.h"

#include <gtest/gtest.h>

#include "harness/mechanism/journal.h"
#include "harness/mechanism/releases.h"
#include "harness/runner/odometer/charge.h"
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

// Attempt 0 was made twice: another one went on from it, and before, another one began anew.
TEST(AddAttempts, AFirstAttemptThatWasMadeTwiceCountsWhole) {
  const auto zero = mechanism::kSeededNonce;
  const std::vector<ChargedAttempt> gone_on{{zero, steps(5)}, {"y", steps(2)}};
  for (const auto* const other : {"x", ""}) {
    const std::vector<ChargedAttempt> stopped{{zero, steps(3), steps(4)}, {other, steps(7)}};
    auto all = gone_on;
    add_recorded(all, {.charged = stopped});
    EXPECT_EQ(charged(all), 7 + 2 + 7) << other;
    for (const bool is_first : {true, false}) {
      auto merged = is_first ? gone_on : stopped;
      add_attempts(merged, is_first ? stopped : gone_on);
      EXPECT_EQ(charged(merged), 7 + 2 + 7) << other;
    }
  }
  auto all = gone_on;
  add_recorded(all, {.charged = {{zero, steps(3), steps(4)}}});
  EXPECT_EQ(charged(all), 7) << "it was recorded before the other one went on";
}

TEST(Charge, OfARunOfAReplacedSpecIsThatSpecs) {
  const trial::TemporaryFolder folder;
  const auto store = results::Store::open(folder.file("a.sqlite"), results::Store::Mode::read_write).value();
  ASSERT_TRUE(store->put_retired(
      {.id = "r", .spec = "replaced", .method = "prodigy", .composition = {}, .trials = {"run"}}));
  EXPECT_EQ(spec_of_run(*store, "run").value(), "replaced");
  EXPECT_EQ(spec_of_run(*store, "other").value(), "");
}

// Its start line is there, and whether it booked nothing or the journal was cut is not known.
TEST(Charge, ARunThatIsOverIsChargedForTheAttemptThatMakesItAgain) {
  auto config = trial::private_config(4);
  config.noise_seed = "s";
  mechanism::Journal journal{.config = config, .nonce = "x"};
  journal.charged = {{mechanism::kSeededNonce, steps(4)}, {"x", {}}};
  const results::TrialRecord over{.id = config.id(),
                                  .config = config.to_json(),
                                  .state = trial::TrialState::finished,
                                  .charged = {{mechanism::kSeededNonce, steps(4)}}};
  const auto made_again = charge_of({.journal = &journal, .recorded = &over});
  ASSERT_TRUE(made_again) << made_again.error().message;
  EXPECT_EQ(charged(*made_again), 8);
}

TEST(Beside, OneWithoutANameStandsForOne) {
  const std::vector<ChargedAttempt> run{{"a", steps(3)}, {"", steps(9)}};
  const auto others = beside(run, {{"", steps(9)}, {"a", steps(2)}, {"b", steps(1)}, {"", steps(4)}});
  EXPECT_EQ(charged(others), 5);
  EXPECT_EQ(charged(beside(run, {{"a", steps(3), steps(1)}})), 4);
}

}  // namespace held_runs_test
}  // namespace hyfreedp::runner
