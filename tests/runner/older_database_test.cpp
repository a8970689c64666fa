// What a folder's release records tell where its database is an older copy, or another copy's of
// the folder, and journals and keys are lost: nothing that was released is forgotten.
#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <gmock/gmock.h>
#include <thread>

#include "harness/runner/execute/cancelled_study.h"
#include "harness/runner/execute/reopen.h"
#include "harness/runner/upkeep/merge.h"
#include "tests/runner/lost_files.h"

namespace hyfreedp::runner {
namespace older_database_test {

using namespace lost_files;
using ::testing::HasSubstr;

using OlderDatabase = LostFiles;

// The number of a fresh release is one that no journal has.
TEST_F(OlderDatabase, DoesNotKnowALaterRelease) {
  FakeExecutor executor;
  ASSERT_TRUE(try_run(world, kSel, executor));
  keep_database();
  ASSERT_TRUE(try_run(world, kSel, executor, true));
  fs::remove(world.out().release_record("sel"));
  put_database_back();
  auto spec = world.read(kSel);
  ASSERT_TRUE(enter_spec(world.store(), world.out(), spec, true, false));
  EXPECT_EQ(spec.content.release, 2);
}

TEST_F(OlderDatabase, KnowsNothingOfVersionsBetween) {
  run(fixed("1e-2", "q"));
  keep_database();
  run(fixed("2e-2", "q"), true);
  run(fixed("1e-2", "q"), true);
  const auto before = epsilon();
  put_database_back();
  lose_journals();
  EXPECT_GE(epsilon(), before);
  run(fixed("1e-2", "q"));
  EXPECT_GE(epsilon(), before);
}

TEST_F(OlderDatabase, HasAVersionThatNoRecordHas) {
  run(fixed("1e-2", "q", "noise_seed: abc\n"));
  keep_database();
  run(fixed("2e-2", "q"), true);
  const auto before = epsilon();
  put_database_back();
  lose_journals();
  EXPECT_GE(epsilon(), before);
  run(fixed("1e-2", "t"));
  EXPECT_GT(epsilon(), before);
}

TEST_F(OlderDatabase, HasTheRowAsCancelled) {
  FakeExecutor lingering;
  lingering.fate = [](const auto&) { return Fate::linger; };
  world.run(fixed("1e-2", "k"), lingering, [&] { return lingering.ended >= 1; });
  const auto study = world.store().studies("k").value().at(0).id;
  StudyRequest request{.kind = StudyRequest::Kind::cancel, .studies = {study}};
  ASSERT_TRUE(carry_out(world.store(), world.out(), request));
  keep_database();
  ASSERT_TRUE(reopen(world.store(), world.out(), *world.store().spec("k").value(),
                     world.store().studies("k").value()));
  lose_keys_of_runs();
  run(fixed("1e-2", "k"));
  const auto before = epsilon();
  put_database_back();
  lose_journals();
  EXPECT_GE(epsilon(), before);
  EXPECT_THAT(refusal(fixed("1e-2", "k")), HasSubstr("would be a second release"));
  EXPECT_GE(epsilon(), before);
}

// Two copies of a folder made the same run under two keys, and the database of one is put into the
// other.
TEST_F(OlderDatabase, IsThatOfACopyOfTheFolder) {
  run(fixed("1e-2", "other"));
  const auto copy = copied();
  run(fixed("2e-2", "q"));
  const auto once = epsilon();
  keep_database();
  change_to(copy);
  run(fixed("2e-2", "q"));
  put_database_back();
  EXPECT_GT(epsilon(), once + 0.1);
}

// What told that a selection had begun is lost before its record is written again.
TEST_F(OlderDatabase, OfASelectionThatHadBegunIsLost) {
  stop_selection();
  const auto before = epsilon();
  lose_journals_and_keys();
  FakeExecutor none;
  (void)world.try_run(
      world.read(kSel), none, [] { return true; }, false);
  EXPECT_GE(epsilon(), before);
  world.forget_database();
  EXPECT_GE(epsilon(), before);
  EXPECT_THAT(refusal(kSel), HasSubstr("It is not drawn again"));
}

// The database is of before it had begun.
TEST_F(OlderDatabase, DoesNotKnowThatASelectionHadBegun) {
  stop_selection();
  const auto before = epsilon();
  lose_journals_and_keys();
  put_database_back();
  EXPECT_GE(epsilon(), before);
  EXPECT_THAT(refusal(kSel), HasSubstr("It is not drawn again"));
}

// The record was lost, and is made anew from a database that is lost later.
TEST_F(OlderDatabase, TellsTheNewRecordOfEarlierReleases) {
  const auto both = spec_of(kSelection + kFixed, "sel");
  FakeExecutor first, second;
  ASSERT_TRUE(try_run(world, both, first));
  const auto record = world.out().release_record("sel");
  fs::copy_file(record, kept() + ".record");
  const auto once = epsilon();
  ASSERT_TRUE(try_run(world, both, second, true));
  const auto twice = epsilon();
  ASSERT_GT(twice, once + 0.5);
  // While the record is there, its two releases say it all.
  run(both);
  const auto known = read_release_records(world.out(), "sel").value();
  EXPECT_EQ(known.size(), 2u);
  EXPECT_EQ(known.at(0).studies.size(), known.at(1).studies.size());
  lose_journals();
  for (const bool is_older : {false, true}) {
    fs::remove(record);
    if (is_older) fs::copy_file(kept() + ".record", record);
    run(both);
    EXPECT_GE(epsilon(), twice);
    const auto size = fs::file_size(record);
    run(both);
    EXPECT_EQ(fs::file_size(record), size);
    keep_database();
    world.forget_database();
    EXPECT_GE(epsilon(), twice);
    put_database_back();
  }
}

// Nor what its attempts have cost, which a command that cancels it must not forget.
TEST_F(OlderDatabase, IsRestoredBeforeARowIsCancelled) {
  stop_selection(Fate::kill);
  lose_keys_of_runs();
  stop_again(Fate::kill);
  const auto before = epsilon();
  lose_journals_and_keys();
  put_database_back();
  const StudyRequest request{.kind = StudyRequest::Kind::cancel, .studies = {selection().id}};
  world.close_database();
  const auto done = hand_in(world.out(), request, std::chrono::seconds(1));
  world.reopen_database();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_GE(epsilon(), before);
}

// Its runs were killed, after so many of them had ended, before the record named any, and it is
// cancelled before its spec is run again. A tuned row's runs measure a score, so that nobody can
// tell them from a private selection's before the row lists them.
class BeforeItAsked : public OlderDatabase,
                      public ::testing::WithParamInterface<std::pair<std::string, int>> {
 protected:
  // Returns the row, which the database has as open and as one that asked for nothing.
  std::string begin_and_kill(const std::string& yaml, bool is_recorded = false) {
    FakeExecutor none, killed;
    if (is_recorded) {
      killed.at_begin = [&](const auto&, const auto&) {
        ASSERT_TRUE(update_release_record(world.store(), world.out(), "q"));
      };
    }
    world.run(yaml, none, [] { return true; });
    keep_database();
    int ended = 0;
    killed.fate = [&](const auto&) { return ended++ < GetParam().second ? Fate::finish : Fate::crash; };
    EXPECT_FALSE(world.try_run(world.read(yaml), killed, kNever, false));
    put_database_back();
    const auto open = world.store().studies("q").value().at(0);
    EXPECT_THAT(open.trials, ::testing::IsEmpty());
    return open.id;
  }
};

TEST_P(BeforeItAsked, ARowThatIsCancelledIsChargedItsRuns) {
  const auto row = "      - {id: row, method: " + GetParam().first + "}\n";
  const auto study = begin_and_kill(boost::replace_all_copy(spec_of(row, "q"), "[0, 1]", "[0]"));
  const auto price = cancelled(study);
  EXPECT_GT(price, 0.5);
  EXPECT_GT(world.store().study(study).value()->trials.size(), GetParam().second);
  EXPECT_DOUBLE_EQ(epsilon(), price);
  lose_journals_and_keys();
  EXPECT_DOUBLE_EQ(epsilon(), price) << "the database has them";
  world.forget_database();
  EXPECT_DOUBLE_EQ(epsilon(), price) << "so has the record";
}

// By a run that goes on with its spec, before it asks for anything; the record has the runs.
TEST_P(BeforeItAsked, ARowThatIsCancelledWhileItWaitsIsChargedItsRuns) {
  const auto row = "      - {id: row, method: " + GetParam().first + "}\n";
  const auto yaml = boost::replace_all_copy(spec_of(row, "q"), "[0, 1]", "[0]");
  const auto study = begin_and_kill(yaml, true);
  ASSERT_TRUE(leave_request(world.out(), {.studies = {study}}));
  run(yaml);
  const auto now = world.store().study(study).value().value();
  ASSERT_TRUE(results::is_cancelled(now));
  ASSERT_TRUE(now.total);
  EXPECT_DOUBLE_EQ(epsilon(), now.total->epsilon);
}

INSTANTIATE_TEST_SUITE_P(Rows, BeforeItAsked,
                         ::testing::Values(std::pair("fixed-rate, options: {lr: 1e-2}", 0),
                                           std::pair("dpsgd, options: {tuning: composed, candidates: 8}", 5),
                                           std::pair("linear-scaling", 2)));

// Its journal is lost, too, and its key soon.
TEST_F(OlderDatabase, ARowThatIsCancelledIsChargedWhatAKeyTells) {
  const auto yaml = boost::replace_all_copy(fixed("1e-2", "q"), "[0, 1]", "[0]");
  FakeExecutor none, killed;
  world.run(yaml, none, [] { return true; });
  keep_database();
  killed.fate = [](const auto&) { return Fate::crash; };
  EXPECT_FALSE(world.try_run(world.read(yaml), killed, kNever, false));
  put_database_back();
  lose_journals();
  const auto price = cancelled(world.store().studies("q").value().at(0).id);
  EXPECT_GT(price, 1);
  lose_keys_of_runs();
  EXPECT_DOUBLE_EQ(epsilon(), price);
}

// The same for a row that was cancelled before it asked for anything, and opened again.
TEST_F(OlderDatabase, ACancelledRowIsChargedTheRunsThatItBeganSince) {
  const auto yaml = boost::replace_all_copy(fixed("1e-2", "q"), "[0, 1]", "[0]");
  FakeExecutor none, killed;
  world.run(yaml, none, [] { return true; });
  const auto study = world.store().studies("q").value().at(0).id;
  EXPECT_EQ(cancelled(study), 0);
  keep_database();
  ASSERT_TRUE(reopen(world.store(), world.out(), *world.store().spec("q").value(),
                     world.store().studies("q").value()));
  killed.fate = [](const auto&) { return Fate::crash; };
  EXPECT_FALSE(world.try_run(world.read(yaml), killed, kNever, false));
  put_database_back();
  const auto all = epsilon();
  EXPECT_DOUBLE_EQ(cancelled(study), all);
  lose_journals_and_keys();
  EXPECT_DOUBLE_EQ(epsilon(), all);
}

// The copy of the database knows the run, and not all that its journal tells. What a command reads
// there to price the row stays in the database. The record is lost.
class KnowsLess : public OlderDatabase, public ::testing::WithParamInterface<std::pair<bool, Fate>> {
 protected:
  const std::string yaml_ = boost::replace_all_copy(fixed("1e-2", "q"), "[0, 1]", "[0]");
  // What the row costs with all that the journal tells.
  double price_of_all(const std::string& study) {
    const auto copy = copied();
    const auto price = cancelled(study);
    change_to(copy);
    return price;
  }
};

TEST_P(KnowsLess, ARowKeepsWhatItsJournalTold) {
  const auto [was_cancelled, before] = GetParam();
  stop_again(before, yaml_);
  const auto study = world.store().studies("q").value().at(0).id;
  double once = 0;
  if (was_cancelled) once = cancelled(study);
  keep_database();
  if (was_cancelled) {
    ASSERT_TRUE(reopen(world.store(), world.out(), *world.store().spec("q").value(),
                       world.store().studies("q").value()));
  }
  lose_keys_of_runs();
  FakeExecutor killed;
  killed.fate = [](const auto&) { return Fate::crash; };
  EXPECT_FALSE(world.try_run(world.read(yaml_), killed, kNever, false));
  const auto all = price_of_all(study);
  EXPECT_GT(all, once + 0.5);
  put_database_back();
  fs::remove(world.out().release_record("q"));
  EXPECT_DOUBLE_EQ(cancelled(study), all);
  lose_journals_and_keys();
  EXPECT_DOUBLE_EQ(epsilon(), all) << "by the database";
  world.forget_database();
  EXPECT_DOUBLE_EQ(epsilon(), all) << "by the record";
}

INSTANTIATE_TEST_SUITE_P(Copies, KnowsLess,
                         ::testing::Values(std::pair(false, Fate::linger), std::pair(true, Fate::linger),
                                           std::pair(false, Fate::unwritten),
                                           std::pair(true, Fate::unwritten)));

// A tuned row, which the copy has as one that asked for nothing.
class OlderTuned : public OlderDatabase {
 protected:
  // All is killed after so many runs.
  void kill_after(int runs) {
    const auto yaml = boost::replace_all_copy(
        spec_of("      - {id: tuned, method: dpsgd, options: {tuning: composed, candidates: 8}}\n", "q"),
        "[0, 1]", "[0]");
    FakeExecutor none, killed;
    world.run(yaml, none, [] { return true; });
    keep_database();
    int ended = 0;
    killed.fate = [&](const auto&) { return ended++ < runs ? Fate::finish : Fate::crash; };
    EXPECT_FALSE(world.try_run(world.read(yaml), killed, kNever, false));
  }
};

// Which runs a tuned row drew is told by a key that is lost. Where journals tell of runs that the
// database does not have, the row stays open.
TEST_F(OlderTuned, ARowWhoseDrawsAreLostIsNotCancelledBesideUnknownRuns) {
  kill_after(3);
  put_database_back();
  const auto key = world.out().draw_key("q");
  fs::rename(key, kept() + ".key");
  const auto study = world.store().studies("q").value().at(0).id;
  const StudyRequest request{.kind = StudyRequest::Kind::cancel, .studies = {study}};
  world.close_database();
  const auto done = hand_in(world.out(), request, std::chrono::seconds(1));
  world.reopen_database();
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("key of this spec's draws is gone"));
  EXPECT_FALSE(results::is_answered(world.store().study(study).value().value()));
  fs::rename(kept() + ".key", key);
  EXPECT_GT(cancelled(study), 0.5);
}

// Of two rows that share a run which neither has in the copy, one lists it.
TEST_F(OlderDatabase, ARunThatTwoRowsShareIsTakenInByOne) {
  const auto both = boost::replace_all_copy(
      spec_of(kFixed + "      - {id: again, method: fixed-rate, options: {lr: 5e-2}}\n", "q"), "[0, 1]",
      "[0]");
  FakeExecutor none, killed;
  world.run(both, none, [] { return true; });
  keep_database();
  killed.fate = [](const auto&) { return Fate::crash; };
  EXPECT_FALSE(world.try_run(world.read(both), killed, kNever, false));
  const auto before = epsilon();
  put_database_back();
  ASSERT_TRUE(catch_up(world.store(), world.out()));
  std::size_t listed = 0;
  for (const auto& study : world.store().studies("q").value()) listed += study.trials.size();
  EXPECT_EQ(listed, 1U);
  EXPECT_DOUBLE_EQ(epsilon(), before);
}

// A seeded run is not recorded before its end, so that one that was killed tells of nothing lost.
TEST_F(OlderDatabase, ASeededRunOnTheSameDataIsNoUnknownRun) {
  const auto yaml =
      spec_of("      - {id: tuned, method: dpsgd, options: {tuning: composed, candidates: 8}}\n", "q");
  FakeExecutor none, killed;
  world.run(yaml, none, [] { return true; });
  fs::remove(world.out().draw_key("q"));
  killed.fate = [](const auto&) { return Fate::crash; };
  EXPECT_FALSE(world.try_run(world.read(fixed("1e-2", "s", "noise_seed: abc\n")), killed, kNever, false));
  const auto study = world.store().studies("q").value().at(0).id;
  ASSERT_TRUE(carry_out(world.store(), world.out(), {.studies = {study}}));
  EXPECT_TRUE(results::is_cancelled(world.store().study(study).value().value()));
}

// A command that puts another version in its place first takes in what journals alone tell.
TEST_F(OlderTuned, AReplacedRowKeepsTheRunsThatJournalsAloneHave) {
  kill_after(5);
  const auto before = epsilon();
  EXPECT_GT(before, 1);
  put_database_back();
  ASSERT_TRUE(restore_from_records(world.store(), world.out()));
  ASSERT_TRUE(catch_up(world.store(), world.out()));
  EXPECT_DOUBLE_EQ(epsilon(), before);
  run(fixed("1e-2", "q"), true);
  const auto both = epsilon();
  EXPECT_GT(both, before + 0.5);
  lose_journals_and_keys();
  EXPECT_DOUBLE_EQ(epsilon(), both);
}

// Commands that go on without a row that the record knows to have begun must not make the record
// forget it.
TEST_F(OlderDatabase, DoesNotMakeTheRecordForgetWhatHadBegun) {
  const auto both = spec_of(kSelection + kFixed, "sel");
  const auto run_fixed = [&] {
    FakeExecutor executor;
    world.run_only(both, {"row=fixed"}, executor);
  };
  do {
    world.forget_database();
    fs::remove_all(world.out().journals());
    fs::remove_all(world.out().keys());
    run_fixed();
    keep_database();
    FakeExecutor stopped;
    world.run(both, stopped, [&] { return stopped.ended >= 1; });
  } while (std::ranges::all_of(world.store().studies("sel").value(),
                               [](const auto& study) { return results::is_answered(study); }));
  const auto before = epsilon();
  put_database_back();
  EXPECT_GE(epsilon(), before);
  run_fixed();
  EXPECT_GE(epsilon(), before);
  lose_journals_and_keys();
  EXPECT_GE(epsilon(), before);
  put_database_back();
  EXPECT_GE(epsilon(), before);
}

// Where the journals are there, the selection goes on under its booking, and is not a second one.
TEST_F(OlderDatabase, GoesOnWithTheBookingOfTheRecord) {
  const auto both = spec_of(kSelection + kFixed, "sel");
  FakeExecutor fixed_alone, stopped;
  world.run_only(both, {"row=fixed"}, fixed_alone);
  keep_database();
  world.run(both, stopped, [&] { return stopped.ended >= 1; });
  const auto booking = [&] {
    for (const auto& study : world.store().studies("sel").value()) {
      if (study.seed == 0 && !study.composition.booking.empty()) return study.composition.booking;
    }
    return std::string();
  };
  const auto before = booking();
  ASSERT_FALSE(before.empty());
  put_database_back();
  run(both);
  EXPECT_EQ(booking(), before);
}

// Two copies of a folder went on with one selection, whose other runs are under keys of their own.
TEST_F(OlderDatabase, IsThatOfACopyThatConcludedTheSameSelection) {
  stop_selection(Fate::kill);
  const auto copy = copied();
  lose_keys_of_runs();  // so that the copy does not go on under the same noise
  run(kSel);
  const auto once = epsilon();
  keep_database();
  change_to(copy);
  lose_keys_of_runs();
  run(kSel);
  put_database_back();
  const auto twice = epsilon();
  EXPECT_GT(twice, once + 0.5);
  run(kSel);
  EXPECT_GE(epsilon(), twice);
  lose_journals_and_keys();
  EXPECT_GE(epsilon(), twice);
}

// The row of that name in a later version has not begun, and does not stand for the earlier one's.
TEST_F(OlderDatabase, OfALaterVersionWithTheSameRowIsLost) {
  stop_selection();
  FakeExecutor executor;
  const auto later = world.read(spec_of(kSelection + kFixed, "sel"));
  world.run(later, executor, kNever, false, {}, Only::read({"row=fixed"}, later).value(), true);
  const auto before = epsilon();
  lose_journals_and_keys();
  EXPECT_GE(epsilon(), before);
  world.forget_database();
  EXPECT_GE(epsilon(), before);
  run(fixed("1e-2", "t"));
  EXPECT_GE(epsilon(), before);
}

// Alike in all that a record says of them, they are two where they were booked twice.
TEST_F(OlderDatabase, SelectionsOfTwoFoldersThatAreMergedAreTwo) {
  const auto replace_and_run = [&](const std::string& row) {
    FakeExecutor executor;
    const auto spec = world.read(
        spec_of(kFixed + "      - {id: second, method: fixed-rate, options: {lr: 2e-2}}\n", "sel"));
    world.run(spec, executor, kNever, false, {}, Only::read({"row=" + row}, spec).value(), true);
  };
  stop_selection();
  const auto other = world.out().root + ".other";
  world.close_database();
  fs::rename(world.out().root, other);
  fs::create_directories(world.out().root);
  world.reopen_database();
  stop_selection();
  const auto once = epsilon();
  replace_and_run("fixed");
  const auto here = epsilon();
  const auto mine = change_to(other);
  replace_and_run("second");
  const auto merged = merge_folders(world.out(), world.store(), {OutFolder{mine}});
  ASSERT_TRUE(merged) << merged.error().message;
  const auto both = epsilon();
  EXPECT_GT(both, std::max(here, once) + 0.5);
  lose_journals_and_keys();
  world.forget_database();
  EXPECT_GE(epsilon(), both);
}

// A row whose number of runs is public: its record keeps the run that the older database lacks, and
// another copy's attempt of one that it has.
TEST_F(OlderDatabase, DoesNotMakeTheRecordForgetARun) {
  const auto both = spec_of(kFixed + "      - {id: second, method: fixed-rate, options: {lr: 2e-2}}\n", "q");
  const auto run_first = [&] {
    FakeExecutor executor;
    world.run_only(both, {"row=fixed"}, executor);
  };
  run_first();
  keep_database();
  FakeExecutor stopped;
  stopped.fate = [](const auto&) { return Fate::linger; };
  world.run(both, stopped, [&] { return stopped.ended >= 1; });
  const auto before = epsilon();
  put_database_back();
  lose_journals_and_keys();
  run_first();
  put_database_back();
  EXPECT_GE(epsilon(), before);
}

// Two copies booked the row apart, and the record's has its answer.
TEST_F(OlderDatabase, OfAnotherBookingKeepsIt) {
  run(fixed("1e-2", "other"));
  const auto copy = copied();
  stop_again(Fate::kill);
  const auto once = epsilon();
  ASSERT_FALSE(results::is_answered(selection()));
  keep_database();
  change_to(copy);
  run(kSel);
  put_database_back();
  run(fixed("1e-2", "t"));
  EXPECT_GT(epsilon(), once + 0.5);
}

// What its lost runs cost is in a limit beside what they would cost again.
TEST_F(OlderDatabase, ALimitCountsRunsThatWouldBeMadeAgain) {
  stop_selection(Fate::kill);
  run(fixed("1e-2", "t"));
  lose_journals_and_keys();
  world.close_database();
  const auto store = results::Store::open(world.out().database(), results::Store::Mode::scratch).value();
  ASSERT_TRUE(restore_from_records(*store, world.out()));
  const auto reading = [&](bool to_be_continued) {
    const auto odometer = odometer_of(*store, world.out(), {.to_be_continued = to_be_continued}).value();
    return read_odometer(odometer.data.at(0), 1e-5).value().total.epsilon;
  };
  EXPECT_GT(reading(true), reading(false) + 0.5);
}

// Where its runs are lost, too, it is not drawn again, which would be a second release.
TEST_F(OlderDatabase, ACancelledSelectionThatLostItsRunsIsNotOpenedAgain) {
  stop_selection();
  const StudyRequest request{.kind = StudyRequest::Kind::cancel, .studies = {selection().id}};
  ASSERT_TRUE(carry_out(world.store(), world.out(), request));
  const auto before = epsilon();
  lose_journals_and_keys();
  world.forget_database();
  run(fixed("1e-2", "t"));
  EXPECT_GT(epsilon(), before);
  EXPECT_TRUE(results::is_lost(selection()));
  EXPECT_TRUE(why_not_retried(selection(), false));
  run(kSel);
  EXPECT_TRUE(results::is_lost(selection()));
  put_database_back();  // of before it had begun
  EXPECT_GT(epsilon(), before);
  EXPECT_THAT(refusal(kSel), HasSubstr("It is not drawn again"));
}

// The same where another spec's run restored it as open.
TEST_F(OlderDatabase, ARestoredSelectionStaysBegun) {
  stop_selection();
  world.forget_database();
  run(fixed("1e-2", "t"));
  const auto before = epsilon();
  lose_journals_and_keys();
  EXPECT_GE(epsilon(), before);
  run(kSel);
  EXPECT_GE(epsilon(), before);
}

// The record is written while runs go on, and not only when a row ends.
TEST_F(OlderDatabase, TheRecordIsWrittenBeforeARowEnds) {
  FakeExecutor executor;
  executor.fate = [](const auto&) { return Fate::linger; };
  const auto record = world.out().release_record("q");
  std::vector<std::uintmax_t> sizes;
  world.run(fixed("1e-2", "q"), executor, [&] {
    sizes.push_back(fs::file_size(record));
    if (sizes.size() == 3) std::this_thread::sleep_for(Coordinator::kRecordInterval * 1.05);
    return sizes.size() > 5;
  });
  EXPECT_FALSE(results::is_answered(world.store().studies("q").value().at(0)));
  EXPECT_GT(sizes.back(), sizes.front());
}

}  // namespace older_database_test
}  // namespace hyfreedp::runner
