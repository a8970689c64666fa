// What an attempt costs of which some of database, release record, journal and key tell, and others
// do not: each counts once.
#include <gmock/gmock.h>

#include "tests/runner/lost_files.h"

namespace hyfreedp::runner {
namespace lost_attempts_test {

using namespace lost_files;

using LostAttempts = LostFiles;

// The database knows one attempt of its run, the record two; with the third they are three.
TEST_F(LostAttempts, KnowsAnAttemptLessOfASelection) {
  stop_selection(Fate::kill);
  const auto once = epsilon();
  keep_database();
  lose_keys_of_runs();
  stop_again(Fate::kill);
  const auto twice = epsilon();
  ASSERT_GT(twice, once + 0.1);
  lose_journals_and_keys();
  const auto copy = copied();
  run(kSel);
  const auto with_newest = epsilon();
  ASSERT_GT(with_newest, twice + 0.1);
  change_to(copy);
  put_database_back();
  EXPECT_GE(epsilon(), twice);
  run(kSel);
  EXPECT_DOUBLE_EQ(epsilon(), with_newest);
  const auto record = read_release_records(world.out(), "sel").value().back();
  EXPECT_THAT(record.studies.at(0).runs, ::testing::IsEmpty()) << "it tells which runs were its own";
}

// The record of the middle of a run has its attempts by their names: each counts once.
TEST_F(LostAttempts, IsLostAndTheRecordIsOfTheMiddleOfARun) {
  const auto yaml = fixed("1e-2", "q");
  kill_with_coordinator(yaml);
  const auto once = epsilon();
  const auto copy = copied();
  world.forget_database();
  EXPECT_DOUBLE_EQ(epsilon(), once);
  run(yaml);
  const auto without_database = epsilon();
  const auto row = world.store().studies("q").value().at(0).total.value().epsilon;
  change_to(copy);
  EXPECT_DOUBLE_EQ(epsilon(), once);
  run(yaml);
  EXPECT_DOUBLE_EQ(epsilon(), without_database);
  EXPECT_DOUBLE_EQ(world.store().studies("q").value().at(0).total.value().epsilon, row);
}

TEST_F(LostAttempts, KnowsAnAttemptLessOfARunThatWasKilled) {
  for (const auto& yaml : {fixed("1e-2", "q"), kSel}) {
    const auto name = world.read(yaml).content.name;
    kill_with_coordinator(yaml);
    const auto once = epsilon();
    keep_database();
    lose_keys_of_runs();
    kill_with_coordinator(yaml);
    const auto twice = epsilon();
    ASSERT_GT(twice, once + 0.1) << name;
    lose_journals_and_keys();
    EXPECT_DOUBLE_EQ(epsilon(), twice) << name;
    put_database_back();
    EXPECT_DOUBLE_EQ(epsilon(), twice) << name;
    world.forget_database();
    fs::remove_all(world.out().journals());
    fs::remove_all(world.out().keys());
  }
}

// A lost attempt without a name, which database and record both have, stands for no other one.
TEST_F(LostAttempts, KnowsAnAttemptLessBesideOneWithoutAName) {
  for (const bool is_selection : {false, true}) {
    const auto yaml = is_selection ? kSel : fixed("1e-2", "q");
    kill_with_coordinator(yaml);
    lose_journals_and_keys();
    stop_again(Fate::linger, yaml);
    keep_database();
    const auto twice = epsilon();
    lose_keys_of_runs();
    kill_with_coordinator(yaml);
    const auto thrice = epsilon();
    ASSERT_GT(thrice, twice + 0.1) << is_selection;
    lose_journals_and_keys();
    put_database_back();
    EXPECT_DOUBLE_EQ(epsilon(), thrice) << is_selection;
    world.forget_database();
    fs::remove_all(world.out().journals());
    fs::remove_all(world.out().keys());
  }
}

// One that was only begun, whose journal and key were lost before the record had it, has no name.
TEST_F(LostAttempts, ABegunOneIsCountedBesideThoseThatTheRecordNames) {
  const auto yaml = fixed("1e-2", "q");
  kill_with_coordinator(yaml);
  keep_database();
  lose_journals_and_keys();
  ASSERT_TRUE(update_release_record(world.store(), world.out(), "q"));
  stop_again(Fate::linger, yaml);
  const auto twice = epsilon();
  lose_journals_and_keys();
  EXPECT_DOUBLE_EQ(epsilon(), twice);
  put_database_back();
  EXPECT_DOUBLE_EQ(epsilon(), twice);
}

TEST_F(LostAttempts, WhatAKeyTellsIsPutIntoTheDatabaseToo) {
  const auto yaml = fixed("1e-2", "q");
  kill_with_coordinator(yaml);
  lose_journals_and_keys();
  stop_again(Fate::linger, yaml);
  const auto run = world.store().studies("q").value().at(0).trials.at(0);
  ASSERT_EQ(world.store().trial(run).value()->charged.size(), 2U);
  lose_journals();
  world.forget_database();
  ASSERT_TRUE(restore_from_records(world.store(), world.out()));
  EXPECT_EQ(world.store().trial(run).value()->charged.size(), 2U);
}

// A cancelled row is priced by what record and key tell beside the older database.
TEST_F(LostAttempts, AndAKeyGiveTheCostOfACancelledRow) {
  const auto yaml = fixed("1e-2", "q");
  stop_again(Fate::linger, yaml);
  keep_database();
  for (int i = 0; i < 2; ++i) {
    lose_keys_of_runs();
    stop_again(Fate::linger, yaml);
  }
  const auto study = world.store().studies("q").value().at(0).id;
  const auto copy = copied();
  const auto row = cancelled(study);
  change_to(copy);
  lose_journals();
  put_database_back();
  EXPECT_DOUBLE_EQ(cancelled(study), row);
}

TEST_F(LostAttempts, IsLostAndAKeyAloneTellsOfAnAttempt) {
  const auto yaml = fixed("1e-2", "q");
  stop_again(Fate::linger, yaml);
  lose_keys_of_runs();
  FakeExecutor executor;
  executor.fate = [](const auto&) { return Fate::crash; };
  EXPECT_FALSE(world.try_run(world.read(yaml), executor, kNever, false));
  const auto study = world.store().studies("q").value().at(0).id;
  const auto copy = copied();
  const auto row = cancelled(study);
  change_to(copy);
  lose_journals();
  world.forget_database();
  EXPECT_DOUBLE_EQ(cancelled(study), row);
}

TEST_F(LostAttempts, DoesNotMakeTheRecordForgetAnothersAttempt) {
  const auto copy = copied();
  run(fixed("2e-2", "q"));
  keep_database();
  change_to(copy);
  run(fixed("2e-2", "q"));
  put_database_back();
  const auto twice = epsilon();
  run(fixed("2e-2", "q"));
  lose_journals_and_keys();
  world.forget_database();
  run(fixed("1e-2", "t"));
  EXPECT_GT(epsilon(), twice);
}

// A copy of the journal from before the attempt booked anything is put back, and the key is lost.
// Under another key the run goes on to its end, after which the database is deleted or an older
// one.
class EarlierJournal : public LostFiles, public ::testing::WithParamInterface<std::tuple<Fate, bool>> {};

TEST_P(EarlierJournal, DoesNotHideAnAttempt) {
  const auto [fate, is_deleted] = GetParam();
  const auto yaml = fixed("1e-2", "q");
  if (fate == Fate::crash) {
    kill_with_coordinator(yaml);
  } else {
    stop_again(fate, yaml);
  }
  const auto id = world.store().studies("q").value().at(0).trials.at(0);
  const auto text = read_file(world.out().journal(id)).value();
  ASSERT_TRUE(write_file_atomically(world.out().journal(id), text.substr(0, text.find('\n') + 1)));
  lose_keys_of_runs();
  keep_database();
  const auto once = epsilon();
  run(yaml);
  const auto twice = epsilon();
  ASSERT_GT(twice, once + 0.1);
  const auto row = world.store().studies("q").value().at(0).total.value().epsilon;
  if (is_deleted) {
    world.forget_database();
  } else {
    put_database_back();
  }
  EXPECT_DOUBLE_EQ(epsilon(), twice);
  run(yaml);
  EXPECT_DOUBLE_EQ(epsilon(), twice);
  EXPECT_DOUBLE_EQ(world.store().studies("q").value().at(0).total.value().epsilon, row);
}

INSTANTIATE_TEST_SUITE_P(LostAttempts, EarlierJournal,
                         ::testing::Combine(::testing::Values(Fate::kill, Fate::cancel, Fate::crash),
                                            ::testing::Bool()));

}  // namespace lost_attempts_test
}  // namespace hyfreedp::runner
