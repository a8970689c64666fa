// Further attempts at runs of a spec with a noise_seed, and second makings of its rows, count
// beside the first whatever is lost.
#include "harness/runner/execute/cancelled_study.h"
#include "tests/runner/seeded_record.h"

namespace hyfreedp::runner {
namespace seeded_attempts_test {

using namespace seeded_record;

class SeededAttempts : public SeededRecord {};
INSTANTIATE_TEST_SUITE_P(Kinds, SeededAttempts, testing::ValuesIn(kRows),
                         [](const auto& one) { return one.param.name; });

// On another machine it goes on as another attempt, of which journal and key may be lost.
TEST_P(SeededAttempts, ASecondAttemptCountsWithoutItsJournal) {
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
TEST_P(SeededAttempts, ASecondMakingCountsBesideTheFirst) {
  if (GetParam().name == "selected") return;  // it is not made again
  const auto yaml = with_seeds("[0, 1]");
  run(yaml);
  const auto undisturbed = spent();
  begin_anew();
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
TEST_P(SeededAttempts, AnOlderDatabaseHidesNoFurtherAttempt) {
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
      begin_anew();
    }
  }
}

// Attempt 0 ended early there, and a second one, on another machine, went on from its checkpoint.
// Made again the first went on. Of an unseeded run it is another copy's database, where a further
// attempt went on.
TEST_P(SeededAttempts, AnOlderDatabaseDoesNotHideWhatAnAttemptMadeLater) {
  if (GetParam().name != "fixed") return;  // a selection names its attempts
  for (const auto* const seed : {"s", ""}) {
    const auto yaml = with_seeds("[0, 1]", seed);
    run(yaml);
    const auto whole = spent();
    change_database(R"(UPDATE trials SET charged = replace(charged, '"count":6', '"count":3'),
                                         events = replace(events, '"count":6', '"count":3'))");
    EXPECT_DOUBLE_EQ(spent(), whole) << seed;
    run(yaml);
    EXPECT_DOUBLE_EQ(spent(), whole) << "it is charged once";
    fs::remove(world.out().release_record("q"));
    change_database("DELETE FROM retired_studies");
    EXPECT_LT(spent(), whole) << "the database alone";
    begin_anew();
  }
}

// It has lost the name of another one, which is not the first.
TEST_P(SeededAttempts, ALostNameDoesNotStandForTheFirstAttempt) {
  if (GetParam().name != "fixed") return;
  run(with_seeds("[0, 1]"));
  const auto whole = spent();
  change_database(R"(UPDATE trials SET charged = replace(charged, '"count":6', '"count":3'))");
  change_database(R"(UPDATE trials SET charged =
                     json_insert(charged, '$[#]', json_set(json_extract(charged, '$[0]'), '$.name', '')))");
  EXPECT_GT(spent(), whole + 0.1);
}

// The row goes on, and one of its runs is over and was made twice, the first time as the database
// has it.
TEST_P(SeededAttempts, AnOlderDatabaseOfAnOpenUnseededRowHidesNoAttempt) {
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

// Made a second time, on another machine say, it would not cost what one selection does.
TEST_P(SeededAttempts, APrivateSelectionThatIsOverIsNotMadeAgain) {
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

}  // namespace seeded_attempts_test
}  // namespace hyfreedp::runner
