// The release record of a spec with a `noise_seed`: what its rows have booked counts once where the
// database is lost, the database or the record is an older copy, or another version took the spec's
// place; its lost runs are made again.
#include <SQLiteCpp/Database.h>
#include <boost/algorithm/string/replace.hpp>
#include <gmock/gmock.h>

#include "harness/base/files.h"
#include "harness/runner/execute/cancelled_study.h"
#include "harness/runner/execute/reopen.h"
#include "harness/runner/odometer/trial_book.h"
#include "tests/runner/lost_files.h"

namespace hyfreedp::runner {
namespace seeded_record_test {

using namespace lost_files;

const std::string kFixedRow = "      - {id: fixed, method: fixed-rate, options: {lr: 1e-2}}\n";

struct Rows {
  std::string name;
  std::string other;
};
void PrintTo(const Rows& rows, std::ostream* out) { *out << rows.name; }
const Rows kRows[] = {
    {"fixed", "{id: other, method: fixed-rate, options: {lr: 1e-3}}"},
    {"searched", "{id: other, method: linear-scaling, options: {t_min: 2, t_max: 6, r_max: 8}}"},
    {"searched_alike",  // each of whose runs has the same noise
     "{id: other, method: linear-scaling, options: {batch: sampled, decompose: fixed-t, t_max: 6, eta_max: "
     "3.2, r_max: 8}}"},
    {"selected",
     "{id: other, method: dp-hyper, options: {grid: [1e-3, 1e-2], mean_runs: 3, score_noise: 300}}"},
};

class SeededRecord : public LostFiles, public testing::WithParamInterface<Rows> {
 protected:
  static std::string with_seeds(const std::string& seeds, const std::string& noise_seed = "s") {
    const auto head = noise_seed.empty() ? "" : "noise_seed: " + noise_seed + "\n";
    const auto rows = kFixedRow + "      - " + GetParam().other + "\n";
    return boost::replace_all_copy(spec_of(rows, "q", head), "seeds: [0, 1]", "seeds: " + seeds);
  }
  // It ends before its eighth seed, and has booked all of them.
  static std::string comparison() {
    return with_seeds("{until: paired interval of fixed - other is narrower than 1000, from: 2, to: 8}");
  }
  std::vector<results::StudyRecord> rows() { return world.store().studies("q").value(); }
  bool all_are_answered() {
    return std::ranges::all_of(rows(), results::is_answered) &&
           std::ranges::none_of(rows(), results::is_lost);
  }
  void cancel_open_rows() {
    for (const auto& row : rows()) {
      if (!results::is_answered(row)) cancelled(row.id);
    }
  }
  // All is killed while it makes a run.
  void crash_on(const std::string& machine, const std::string& yaml) {
    FakeExecutor killed;
    killed.machine = machine;
    killed.fate = [](const auto&) { return Fate::crash; };
    EXPECT_FALSE(world.try_run(world.read(yaml), killed, kNever, false));
  }
  Odometer odometer() {
    world.close_database();
    const auto store = results::Store::open(world.out().database(), results::Store::Mode::scratch).value();
    EXPECT_TRUE(restore_from_records(*store, world.out()));
    auto found = odometer_of(*store, world.out()).value();
    world.reopen_database();
    return found;
  }
  // Of the folder, of which all runs are known and belong to rows.
  double spent() {
    const auto all = odometer();
    EXPECT_THAT(all.unreadable, testing::IsEmpty());
    EXPECT_FALSE(all.data.at(0).has_unknown_selection);
    return epsilon();
  }
};
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
  ASSERT_TRUE(restore_releases(world.store(), world.out(), "other"));
  ASSERT_TRUE(catch_up(world.store(), world.out()));
  run(other);
  EXPECT_DOUBLE_EQ(spent(), kept);
}

TEST_P(SeededRecord, OfAnEarlierProgramHasTheSameSelections) {
  run(with_seeds("[0, 1]"));
  const auto once = spent();
  world.close_database();
  SQLite::Database(world.out().database(), SQLite::OPEN_READWRITE)
      .exec("UPDATE studies SET composition = json_remove(composition, '$.selection.booking')");
  world.reopen_database();
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
      const auto* selection = row.composition.if_contains("selection");
      EXPECT_EQ(selection != nullptr, row.method == "dp-hyper");
      if (selection == nullptr) continue;
      ++selections;
      const auto attempts = string_or(selection->as_object(), "attempts", "");
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

// On another machine it goes on as another attempt, of which journal and key may be lost.
TEST_P(SeededRecord, ASecondAttemptCountsWithoutItsJournal) {
  const auto yaml = with_seeds("[0, 1]");
  stop_again(Fate::linger, yaml);
  const auto once = spent();
  const auto kept_journals = world.out().root + ".journals";
  fs::copy(world.out().journals(), kept_journals);
  FakeExecutor elsewhere;
  elsewhere.machine = "another";
  elsewhere.fate = [](const auto&) { return Fate::crash; };
  EXPECT_FALSE(world.try_run(world.read(yaml), elsewhere, kNever, false));
  const auto twice = spent();
  EXPECT_GE(twice, once);
  for (const auto& entry : fs::directory_iterator(kept_journals)) {
    if (entry.path().extension() == ".jsonl")
      fs::copy_file(entry.path(), fs::path(world.out().journals()) / entry.path().filename(),
                    fs::copy_options::overwrite_existing);
  }
  EXPECT_DOUBLE_EQ(spent(), twice);
  lose_journals();
  EXPECT_DOUBLE_EQ(spent(), twice);
  lose_keys_of_runs();
  EXPECT_DOUBLE_EQ(spent(), twice);
  run(yaml);
  EXPECT_GE(spent(), twice);
  fs::remove_all(kept_journals);
}

// A run that went on under a second attempt is lost with all that tells its first steps, made again
// on the first machine, and then on a third.
TEST_P(SeededRecord, ASecondMakingCountsBesideTheFirst) {
  if (GetParam().name == "selected") return;  // it is not made again
  const auto yaml = with_seeds("[0, 1]");
  run(yaml);
  const auto undisturbed = spent();
  world.forget_database();
  fs::remove_all(world.out().root);
  fs::create_directories(world.out().root);
  world.reopen_database();
  double before = 0;
  for (const auto* machine : {"second", "third"}) {
    crash_on("fake", yaml);
    FakeExecutor elsewhere;
    elsewhere.machine = machine;
    world.run(yaml, elsewhere);
    const auto made = spent();
    EXPECT_GT(made, std::max(before, undisturbed)) << machine;
    world.forget_database();
    EXPECT_DOUBLE_EQ(spent(), made);
    lose_journals_and_keys();
    EXPECT_DOUBLE_EQ(spent(), made);
    before = made;
  }
}

// The database of before a run was made again is put back.
TEST_P(SeededRecord, AnOlderDatabaseHidesNoFurtherAttempt) {
  if (GetParam().name == "selected") return;  // it is not made again
  const auto yaml = with_seeds("[0, 1]");
  for (const bool has_lost_a_name : {false, true}) {
    for (const bool is_over : {false, true}) {
      if (has_lost_a_name) {
        for (const auto* machine : {"fake", "second", "fake"}) crash_on(machine, yaml);
        lose_journals();
      }
      run(yaml);
      const auto once = spent();
      keep_database();
      world.forget_database();
      lose_journals();
      for (const auto* machine : {"fake", "third", "fake"}) crash_on(machine, yaml);
      if (is_over) {
        FakeExecutor elsewhere;
        elsewhere.machine = "third";
        world.run(yaml, elsewhere);
      }
      const auto again = spent();
      EXPECT_GT(again, once);
      put_database_back();
      const auto least = again * (1 - 1e-12);
      EXPECT_GE(spent(), least) << has_lost_a_name << is_over;
      run(yaml);
      EXPECT_GE(spent(), least) << has_lost_a_name << is_over;
      world.forget_database();
      fs::remove_all(world.out().root);
      fs::create_directories(world.out().root);
      world.reopen_database();
    }
  }
}

// Attempt 0 ended early there, and a second one, on another machine, went on from its checkpoint.
// Made again the first went on. Of an unseeded run it is another copy's database, where a further
// attempt went on.
TEST_P(SeededRecord, AnOlderDatabaseDoesNotHideWhatAnAttemptMadeLater) {
  if (GetParam().name != "fixed") return;  // a selection names its attempts
  for (const auto* const seed : {"s", ""}) {
    const auto yaml = with_seeds("[0, 1]", seed);
    run(yaml);
    const auto whole = spent();
    world.close_database();
    SQLite::Database(world.out().database(), SQLite::OPEN_READWRITE)
        .exec(R"(UPDATE trials SET charged = replace(charged, '"count":6', '"count":3'),
                                   events = replace(events, '"count":6', '"count":3'))");
    world.reopen_database();
    EXPECT_DOUBLE_EQ(spent(), whole) << seed;
    run(yaml);
    EXPECT_DOUBLE_EQ(spent(), whole) << "it is charged once";
    fs::remove(world.out().release_record("q"));
    world.close_database();
    SQLite::Database(world.out().database(), SQLite::OPEN_READWRITE).exec("DELETE FROM retired_studies");
    world.reopen_database();
    EXPECT_LT(spent(), whole) << "the database alone";
    world.forget_database();
    fs::remove_all(world.out().root);
    fs::create_directories(world.out().root);
    world.reopen_database();
  }
}

// The row goes on, and one of its runs is over and was made twice, the first time as the database
// has it.
TEST_P(SeededRecord, AnOlderDatabaseOfAnOpenUnseededRowHidesNoAttempt) {
  if (GetParam().name != "searched") return;
  const auto yaml = spec_of("      - " + GetParam().other + "\n", "q", "");
  const auto stop_after = [&](std::size_t ended) {
    FakeExecutor some;
    world.run(yaml, some, [&] { return some.ended >= ended; });
  };
  stop_after(2);
  keep_database();
  const auto once = spent();
  world.forget_database();
  lose_journals();
  stop_after(3);
  const auto twice = spent();
  EXPECT_GT(twice, once);
  put_database_back();
  EXPECT_GE(spent(), twice * (1 - 1e-12));
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

// Made a second time, on another machine say, it would not cost what one selection does.
TEST_P(SeededRecord, APrivateSelectionThatIsOverIsNotMadeAgain) {
  if (GetParam().name != "selected") return;
  const auto yaml = with_seeds("[0, 1]");
  run(yaml);
  const auto booked = spent();
  world.forget_database();
  lose_journals();
  const auto has_score = [](const auto& run) {
    return run.config.at("evaluation").at("score_noise_counts").is_number();
  };
  const auto other_title = boost::replace_all_copy(yaml, "title: ", "title: another ");
  const auto other_name = boost::replace_all_copy(yaml, "name: q\n", "name: q2\n");
  ASSERT_NE(other_title, yaml);
  ASSERT_NE(other_name, yaml);
  for (const auto& again : {yaml, yaml, other_title, other_name}) {
    run(again, again == other_title);
    for (const auto& row : world.store().all_studies().value())
      EXPECT_EQ(results::is_lost(row), row.row == "other") << row.spec << row.row;
    EXPECT_TRUE(std::ranges::none_of(world.store().trials().value(), has_score));
    EXPECT_DOUBLE_EQ(spent(), booked);
  }
  const auto all = rows();
  const auto lost = std::ranges::find(all, "other", &results::StudyRecord::row);
  EXPECT_THAT(*why_not_retried(*lost, true), testing::HasSubstr("put it back from a copy"));
}

}  // namespace seeded_record_test
}  // namespace hyfreedp::runner
