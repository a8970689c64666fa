// The release record of a spec with a `noise_seed`: what its rows have booked counts once where the
// database is lost, the database or the record is an older copy, or another version took the spec's
// place; its lost runs are made again.
#include "tests/runner/seeded_record.h"

#include <boost/algorithm/string/replace.hpp>
#include <gmock/gmock.h>

#include "harness/base/files.h"
#include "harness/runner/execute/cancelled_study.h"
#include "harness/runner/execute/reopen.h"
#include "harness/runner/odometer/trial_book.h"

namespace hyfreedp::runner {
namespace seeded_record_test {

using namespace seeded_record;

INSTANTIATE_TEST_SUITE_P(Kinds, SeededRecord, testing::ValuesIn(kRows),
                         [](const auto& one) { return one.param.name; });

TEST_P(SeededRecord, TellsWhatAComparisonBooked) {
  run(comparison());
  const auto booked = spent();
  world.forget_database();
  EXPECT_DOUBLE_EQ(spent(), booked);
  run(comparison());
  EXPECT_DOUBLE_EQ(spent(), booked);
  EXPECT_TRUE(all_are_answered());
}

TEST_P(SeededRecord, TellsAnOlderDatabaseWhatAComparisonBooked) {
  run(with_seeds("[0, 1]"));
  keep_database();
  run(comparison(), true);
  const auto booked = spent();
  put_database_back();
  EXPECT_DOUBLE_EQ(spent(), booked);
  run(comparison(), true);
  EXPECT_DOUBLE_EQ(spent(), booked);
}

// The later version is at its first seed, and its other rows have booked nothing.
TEST_P(SeededRecord, OfAVersionWhoseRowsAreOpenInTheNextCounts) {
  run(comparison());
  const auto all = with_seeds("[0, 1, 2, 3, 4, 5, 6, 7]");
  FakeExecutor stopped;
  world.run(
      world.read(all), stopped, [&] { return stopped.ended >= 1; }, false, {}, {}, true);
  const auto booked = spent();
  for (int times = 0; times < 2; ++times) {
    world.forget_database();
    EXPECT_DOUBLE_EQ(spent(), booked);
    FakeExecutor again;
    world.run(all, again, [&] { return again.ended >= 1; });
    EXPECT_DOUBLE_EQ(spent(), booked);
  }
}

// All runs of a search fail, so that it ends early and is charged what was still planned.
TEST_P(SeededRecord, OfSearchesThatEndedEarlyCountsOnceInTheNextVersion) {
  FakeExecutor failing;
  failing.fate = [](const auto&) { return Fate::diverge; };
  world.run(with_seeds("[0, 1]"), failing);
  const auto before = spent();
  FakeExecutor none;
  world.run(
      world.read(with_seeds("[0, 1, 2]")), none, [] { return true; }, false, {}, {}, true);
  const auto booked = spent();
  EXPECT_GE(booked, before);
  world.forget_database();
  if (GetParam().name == "selected") {
    EXPECT_GE(spent(), booked) << "runs that no row lists may be those of the selection that is open";
  } else {
    EXPECT_DOUBLE_EQ(spent(), booked);
  }
  run(with_seeds("[0, 1, 2]"));
  const auto made = spent();
  EXPECT_GE(made, booked);
  world.forget_database();
  EXPECT_DOUBLE_EQ(spent(), made);
}

// All was killed after the comparison was decided, before the record was written again.
TEST_P(SeededRecord, OlderThanTheDatabaseAddsNothing) {
  stop_again(Fate::linger, comparison());
  const auto early = read_file(world.out().release_record("q")).value();
  run(comparison());
  const auto booked = spent();
  ASSERT_TRUE(write_file_atomically(world.out().release_record("q"), early));
  EXPECT_DOUBLE_EQ(spent(), booked);
  run(comparison());
  EXPECT_DOUBLE_EQ(spent(), booked);
}

TEST_P(SeededRecord, TellsWhatCancelledRowsBooked) {
  stop_again(Fate::linger, comparison());
  const auto booked = spent();
  cancel_open_rows();
  const auto after = spent();
  EXPECT_GE(after, booked);
  world.forget_database();
  EXPECT_DOUBLE_EQ(spent(), after);
}

TEST_P(SeededRecord, OfARowThatWasOpenedAgainCountsOnce) {
  run(comparison());
  const auto undisturbed = spent();
  world.forget_database();
  fs::remove_all(world.out().journals());
  stop_again(Fate::linger, comparison());
  cancel_open_rows();
  keep_database();
  ASSERT_TRUE(reopen(world.store(), world.out(), *world.store().spec("q").value(), rows()));
  run(comparison());
  EXPECT_TRUE(all_are_answered());
  EXPECT_DOUBLE_EQ(spent(), undisturbed);
  put_database_back();
  ASSERT_TRUE(reopen(world.store(), world.out(), *world.store().spec("q").value(), rows()));
  run(comparison());
  EXPECT_DOUBLE_EQ(spent(), undisturbed);
}

TEST_P(SeededRecord, OfAVersionThatWasReplacedThereAndBackCountsOnce) {
  run(comparison());
  const auto alone = spent();
  run(with_seeds("[0]"), true);
  EXPECT_DOUBLE_EQ(spent(), alone) << "it has the same rows";
  run(comparison(), true);
  EXPECT_DOUBLE_EQ(spent(), alone);
  world.forget_database();
  EXPECT_DOUBLE_EQ(spent(), alone);
}

TEST_P(SeededRecord, OfSeedsThatWereMadeInAnotherVersionShrinksAndGrowsNoMore) {
  const auto all = with_seeds("[0, 1, 2, 3, 4, 5, 6, 7]");
  run(all);
  const auto alone = spent();
  world.forget_database();
  fs::remove_all(world.out().journals());
  run(comparison());
  const auto booked = spent();
  run(all, true);
  const auto made = spent();
  EXPECT_GE(made, booked - 1e-9);
  EXPECT_GE(made, alone - 1e-9);
  if (GetParam().name != "searched") {
    EXPECT_DOUBLE_EQ(made, alone);
  }
  for (const auto& yaml : {comparison(), all, comparison()}) {
    run(yaml, true);
    EXPECT_DOUBLE_EQ(spent(), made);
  }
  world.forget_database();
  EXPECT_DOUBLE_EQ(spent(), made);
}

// Of runs that began after the record was written journals alone tell.
TEST_P(SeededRecord, IsOlderThanRunsOfWhichJournalsTell) {
  FakeExecutor none;
  world.run(comparison(), none, [] { return true; });
  const auto early = read_file(world.out().release_record("q")).value();
  FakeExecutor stopped;
  world.run(comparison(), stopped, [&] { return stopped.ended >= 6; });
  const auto other =
      boost::replace_all_copy(fixed("1e-4", "other", "noise_seed: t\n"), "steps: 6", "steps: 1");
  const auto copy = copied();
  run(other);
  const auto kept = spent();
  change_to(copy);
  ASSERT_TRUE(write_file_atomically(world.out().release_record("q"), early));
  world.forget_database();
  ASSERT_TRUE(restore_for(world.store(), world.out(), "other"));
  ASSERT_TRUE(catch_up(world.store(), world.out()));
  run(other);
  EXPECT_DOUBLE_EQ(spent(), kept);
}

TEST_P(SeededRecord, OfAnEarlierProgramHasTheSameSelections) {
  run(with_seeds("[0, 1]"));
  const auto once = spent();
  change_database("UPDATE studies SET composition = json_remove(composition, '$.selection.booking')");
  fs::remove(world.out().release_record("q"));
  EXPECT_DOUBLE_EQ(epsilon(), once);
  run(boost::replace_all_copy(with_seeds("[0, 1]"), "name: q\n", "name: q2\n"));
  EXPECT_DOUBLE_EQ(epsilon(), once);
}

// Made again it is the same one.
TEST_P(SeededRecord, NamesTheAttemptsOfASelection) {
  std::set<std::string> names;
  for (int times = 0; times < 2; ++times) {
    run(with_seeds("[0, 1]"));
    std::size_t selections = 0;
    for (const auto& row : rows()) {
      EXPECT_EQ(row.composition.selection.has_value(), row.method == "dp-hyper");
      if (!row.composition.selection) continue;
      ++selections;
      const auto& attempts = row.composition.attempts;
      EXPECT_FALSE(attempts.empty());
      names.insert(row.id + attempts);
    }
    EXPECT_EQ(names.size(), selections);
    world.forget_database();
    lose_journals();
  }
}

// Whose runs are like its own.
TEST_P(SeededRecord, BesideAnUnseededVersionCounts) {
  run(with_seeds("[0, 1]"));
  run(with_seeds("[0, 1]", ""), true);
  const auto both = spent();
  world.forget_database();
  EXPECT_DOUBLE_EQ(spent(), both);
  run(with_seeds("[0, 1]", ""));
  EXPECT_DOUBLE_EQ(spent(), both);
}

TEST_P(SeededRecord, AJournalWithoutItsBookingsIsChargedWhole) {
  run(with_seeds("[0, 1]"));
  const auto booked = spent();
  const auto all = rows();
  const auto one = std::ranges::find(all, "fixed", &results::StudyRecord::row);
  const auto path = world.out().journal(one->trials.at(0));
  world.forget_database();
  const auto text = read_file(path).value();
  ASSERT_TRUE(write_file_atomically(path, text.substr(0, text.find('\n') + 1)));
  EXPECT_DOUBLE_EQ(spent(), booked);
  run(with_seeds("[0, 1]"));
  EXPECT_TRUE(all_are_answered());
  EXPECT_DOUBLE_EQ(spent(), booked);
  world.forget_database();
  fs::remove(path);
  EXPECT_DOUBLE_EQ(spent(), booked);
  run(with_seeds("[0, 1]"));
  EXPECT_TRUE(all_are_answered());
  EXPECT_DOUBLE_EQ(spent(), booked);
}

// All was killed before the release record had the run.
TEST_P(SeededRecord, ARunThatBeganCountsOnceWithoutItsJournal) {
  const auto yaml = with_seeds("[0, 1]");
  run(yaml);
  const auto whole = spent();
  for (const auto fate : {Fate::crash, Fate::crash_unwritten}) {
    world.forget_database();
    fs::remove_all(world.out().journals());
    FakeExecutor killed;
    killed.fate = [&](const auto&) { return fate; };
    EXPECT_FALSE(world.try_run(world.read(yaml), killed, kNever, false));
    lose_journals();
    const auto begun = spent();
    EXPECT_GT(begun, 0);
    EXPECT_LE(begun, whole);
    run(yaml);
    EXPECT_DOUBLE_EQ(spent(), whole);
  }
}

// A command takes its begin into the database, and all is killed again before a journal is there.
TEST_P(SeededRecord, ARunThatBeganTwiceWithoutAJournalCountsOnce) {
  const auto yaml = with_seeds("[0, 1]");
  run(yaml);
  const auto whole = spent();
  world.forget_database();
  fs::remove_all(world.out().journals());
  for (int times = 0; times < 2; ++times) {
    FakeExecutor killed;
    killed.fate = [](const auto&) { return Fate::crash_unwritten; };
    EXPECT_FALSE(world.try_run(world.read(yaml), killed, kNever, false));
    for (const auto& trial : world.store().trials().value())
      ASSERT_TRUE(TrialBook(world.store(), world.out()).take_in(trial.id));
  }
  run(yaml);
  EXPECT_DOUBLE_EQ(spent(), whole);
}

TEST_P(SeededRecord, ItsKeyStaysUntilTheRunIsOver) {
  FakeExecutor killed;
  killed.fate = [](const auto&) { return Fate::crash; };
  const auto yaml = with_seeds("[0, 1]");
  EXPECT_FALSE(world.try_run(world.read(yaml), killed, kNever, false));
  const auto key = world.out().key(killed.submitted.front());
  ASSERT_TRUE(fs::exists(key));
  lose_journals();
  run(fixed("1e-4", "q", "noise_seed: s\n"), true);
  EXPECT_TRUE(fs::exists(key));
  EXPECT_FALSE(fs::exists(world.out().journal(killed.submitted.front())));
  run(yaml, true);
  EXPECT_FALSE(fs::exists(key));
}

TEST_P(SeededRecord, AKeyAloneTellsOfARun) {
  FakeExecutor killed;
  killed.fate = [](const auto&) { return Fate::crash; };
  EXPECT_FALSE(world.try_run(world.read(with_seeds("[0, 1]")), killed, kNever, false));
  world.forget_database();
  fs::remove_all(world.out().journals());
  const auto found = odometer();
  EXPECT_TRUE(found.data.at(0).has_unknown_selection || epsilon() > 0);
}

// Its worker ended before it was to book anything.
TEST_P(SeededRecord, ARunThatWasStoppedBeforeItsFirstBookingCountsNothing) {
  FakeExecutor stopped;
  stopped.fate = [](const auto&) { return Fate::linger; };
  stopped.steps_done = [](const auto&) { return 0; };
  world.run(with_seeds("[0, 1]"), stopped, [&] { return stopped.ended >= 1; });
  EXPECT_THAT(odometer().data, testing::IsEmpty());
}

TEST_P(SeededRecord, OfAnOpenRowTellsWhatLostRunsCost) {
  stop_again(Fate::linger, with_seeds("[0, 1]"));
  const auto begun = spent();
  world.forget_database();
  EXPECT_DOUBLE_EQ(spent(), begun);
  lose_journals_and_keys();
  EXPECT_DOUBLE_EQ(spent(), begun);
  run(with_seeds("[0, 1]"));
  const auto made = spent();
  EXPECT_GE(made, begun);
  world.forget_database();
  EXPECT_DOUBLE_EQ(spent(), made);
}

// The price of a cancelled seed names no runs.
TEST_P(SeededRecord, ABookingWithoutNamesDoesNotStandForALostRun) {
  if (!GetParam().name.starts_with("searched")) return;  // of others each run is named
  FakeExecutor some;
  world.run(comparison(), some, [&] { return some.ended >= 12; });
  cancel_open_rows();
  run(with_seeds("[0, 1, 2, 3, 4, 5, 6, 7]"), true);
  const auto all = rows();
  const auto one =
      std::ranges::find_if(all, [](const auto& row) { return row.row == "other" && row.seed == 7; });
  const auto booked = spent();
  world.forget_database();
  EXPECT_DOUBLE_EQ(spent(), booked);
  for (const auto& id : one->trials) {
    const auto path = world.out().journal(id);
    fs::rename(path, path + ".kept");
    EXPECT_DOUBLE_EQ(spent(), booked);
    fs::rename(path + ".kept", path);
  }
}

TEST_P(SeededRecord, ItsLostRunsAreMadeAgain) {
  FakeExecutor first;
  world.run(comparison(), first);
  const auto booked = spent();
  const auto before = results::export_rows(world.store(), "q", {}).value();
  world.forget_database();
  lose_journals();
  EXPECT_DOUBLE_EQ(spent(), booked);
  FakeExecutor again;
  world.run(comparison(), again);
  EXPECT_DOUBLE_EQ(spent(), booked);
  if (GetParam().name == "selected") return;
  EXPECT_THAT(again.submitted, testing::UnorderedElementsAreArray(first.submitted));
  EXPECT_EQ(results::export_rows(world.store(), "q", {}).value(), before);
}

}  // namespace seeded_record_test
}  // namespace hyfreedp::runner
