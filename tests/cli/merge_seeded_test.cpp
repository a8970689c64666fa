// Runs and private selections of seeded specs that several folders have: each attempt counts once.
#include <cmath>
#include <filesystem>
#include <gmock/gmock.h>
#include <set>

#include "harness/runner/odometer/release_record_file.h"
#include "harness/runner/odometer/restored_releases.h"
#include "results/store/states.h"
#include "tests/cli/merge_folders.h"

namespace hyfreedp::cli {
namespace merge_seeded_test {

namespace fs = std::filesystem;

class MergeSeeded : public Merge {
 protected:
  // Every run is killed on its way.
  void fill_killed_on(const std::string& machine, const std::string& name, const std::string& yaml) const {
    runner::FakeExecutor elsewhere;
    elsewhere.machine = machine;
    elsewhere.fate = [](const auto&) { return runner::Fate::kill; };
    fill(name, yaml, elsewhere);
  }
};

// From which rows come back where the database is lost.
TEST_F(MergeSeeded, TheReleaseRecordOfASeededSpecHasAllParts) {
  const auto yaml = with_seeds(spec_of(kSelectionRow + kFixedRow, "seeded", "s-1"), "[0, 1]");
  fill_part("a", yaml, {"seed=0"});
  fill_part("b", yaml, {"seed=1"});
  ASSERT_EQ(merge({"b"}, "a"), 0) << err();
  const auto records = runner::read_release_records(folder("a"), "seeded").value();
  ASSERT_EQ(records.size(), 1U);
  const auto& recorded = records.front().studies;
  EXPECT_EQ(recorded.size(), store("a")->studies("seeded")->size());
  for (const auto& one : recorded) EXPECT_TRUE(results::is_answered(one.study)) << one.study.row;
}

// A second one on another machine has other noise.
TEST_F(MergeSeeded, EveryAttemptAtASeededRunCounts) {
  const auto yaml = spec_of(kFixedRow, "seeded", "s-1");
  fill_killed("once", yaml);
  fs::copy(path("once"), path("twice"), fs::copy_options::recursive);
  fill_killed_on("another", "twice", yaml);
  const auto spent = odometer("twice");
  ASSERT_GT(spent, odometer("once") + 0.1);
  fs::copy(path("once"), path("over"), fs::copy_options::recursive);
  fill("over", yaml);
  for (const auto* const other : {"once", "over"}) {
    for (const bool is_into : {true, false}) {
      const auto [from, into] = is_into ? std::pair("twice", other) : std::pair(other, "twice");
      fs::copy(path(into), path("merged"), fs::copy_options::recursive);
      ASSERT_EQ(merge({from}, "merged"), 0) << err();
      EXPECT_NEAR(odometer("merged"), spent, 1e-9) << from << " into " << into;
      const auto records = runner::read_release_records(folder("merged"), "seeded").value();
      EXPECT_FALSE(records.back().studies.at(0).runs.empty());
      fs::remove_all(path("merged"));
    }
  }
}

// At once, one after the other, and more than once; into a folder in which the run is over or not.
TEST_F(MergeSeeded, AttemptsOfEveryFolderCountHoweverTheyAreMerged) {
  const auto yaml = spec_of(kFixedRow, "seeded", "s-1");
  fill("over", yaml);
  fill_killed("begun", yaml);
  for (const auto* machine : {"second", "third"}) {
    fs::copy(path("begun"), path(machine), fs::copy_options::recursive);
    fill_killed_on(machine, machine, yaml);
  }
  for (const auto* const into : {"over", "begun"}) {
    const auto once = odometer(into);
    std::set<std::int64_t> spent;  // in millionths
    for (const auto& order : std::vector<std::vector<std::vector<std::string>>>{
             {{"second", "third"}}, {{"second"}, {"third"}}, {{"third"}, {"second"}, {"third"}}}) {
      fs::copy(path(into), path("merged"), fs::copy_options::recursive);
      for (const auto& others : order) {
        ASSERT_EQ(merge(others, "merged"), 0) << err();
        spent.insert(std::llround(odometer("merged") * 1e6));
      }
      const auto all = odometer("merged");
      fs::remove(folder("merged").database());
      ASSERT_TRUE(runner::restore_for(*store("merged"), folder("merged"), "seeded"));
      EXPECT_NEAR(odometer("merged"), all, 1e-9) << "the database was lost";
      fs::remove_all(path("merged"));
    }
    EXPECT_EQ(spent.size(), 2U) << "one alone, whichever; both";
    EXPECT_GT(static_cast<double>(*spent.begin()), (once + 0.1) * 1e6);
    EXPECT_GT(*spent.rbegin() - *spent.begin(), 100000);
  }
}

// Of two of these nothing tells whether they are one.
TEST_F(MergeSeeded, AttemptsThatLostTheirNamesCountHoweverTheyAreMerged) {
  const auto yaml = spec_of(kFixedRow, "seeded", "s-1");
  for (const auto* const into : {"apart", "together"}) fill(into, yaml);
  const auto once = odometer("apart");
  for (const auto* from : {"x", "y"}) {
    for (const auto* machine : {"fake", "second", "third"}) fill_killed_on(machine, from, yaml);
    for (const auto& run : store(from)->trials().value()) fs::remove(folder(from).journal(run.id));
    ASSERT_EQ(merge({from}, "apart"), 0) << err();
  }
  ASSERT_EQ(merge({"x", "y"}, "together"), 0) << err();
  EXPECT_GT(odometer("together"), once + 2) << "of four attempts more, of which two have names";
  EXPECT_GE(odometer("apart"), odometer("together") - 1e-9);
}

// Whose copy is merged into it: of the making that goes on there a key is left.
TEST_F(MergeSeeded, AFinishedRunAndItsOtherMakingCountOnceEach) {
  const auto yaml = spec_of(kFixedRow, "seeded", "s-1");
  fill("over", yaml);
  for (const auto* machine : {"fake", "second", "third"}) fill_killed_on(machine, "again", yaml);
  const auto spent = odometer("again");
  for (int times = 0; times < 2; ++times) {
    ASSERT_EQ(merge({"over"}, "again"), 0) << err();
    EXPECT_NEAR(odometer("again"), spent, 1e-9) << "attempt 0 is the same release";
  }
}

// The one that is lost there may be another making of the one that is begun here.
TEST_F(MergeSeeded, ASeededSelectionThatIsLostIsNotTheOneThatIsOpen) {
  const auto yaml = spec_of(kSelectionRow, "seeded", "s-1");
  fill("a", yaml);
  fs::remove(folder("a").database());
  for (const auto& entry : fs::directory_iterator(folder("a").journals())) {
    if (entry.path().extension() == ".jsonl") fs::remove(entry.path());
  }
  fill("a", yaml);
  ASSERT_TRUE(results::is_lost(store("a")->studies("seeded")->at(0)));
  runner::FakeExecutor crashed;
  crashed.fate = [](const auto&) { return runner::Fate::crash; };
  ASSERT_FALSE(try_fill("b", yaml, crashed));
  expect_refused_unchanged({"b"}, {"Its price holds for one making"});
}

// The release record of the other spec had not been written since, or was lost.
TEST_F(MergeSeeded, TheReleaseRecordHasTheAttemptsThatCome) {
  fill("over", spec_of(kFixedRow, "over", "s-1"));
  const auto yaml = spec_of(kFixedRow, "begun", "s-1");
  fill_killed("begun", yaml);
  fill_killed_on("another", "begun", yaml);
  fs::remove(folder("begun").release_record("begun"));
  const auto spent = odometer("begun");
  ASSERT_EQ(merge({"begun"}, "over"), 0) << err();
  EXPECT_NEAR(odometer("over"), spent, 1e-9);
  fs::remove(folder("over").database());
  ASSERT_TRUE(runner::restore_for(*store("over"), folder("over"), "over"));
  EXPECT_NEAR(odometer("over"), spent, 1e-9);
}

// Its cost is one selection's, however many of its runs another folder made twice.
TEST_F(MergeSeeded, ASeededSelectionThatIsOverGetsNoAttemptsMore) {
  const auto yaml = spec_of(kSelectionRow, "seeded", "s-1");
  fill("over", yaml);
  fill_killed("twice", yaml);
  fill_killed_on("another", "twice", yaml);
  const auto before = content("over");
  EXPECT_EQ(merge({"twice"}, "over"), 2);
  EXPECT_EQ(content("over"), before);
}

TEST_F(MergeSeeded, TheReleaseRecordOfASeededSpecHasTheRunsThatBeganInEachFolder) {
  const auto yaml = with_seeds(spec_of(kFixedRow, "seeded", "s-1"), "[0, 1]");
  fill_part("a", yaml, {"seed=0"});
  runner::FakeExecutor killed;
  killed.fate = [](const auto&) { return runner::Fate::kill; };
  fill_part("b", yaml, {"seed=1"}, killed);
  ASSERT_EQ(merge({"b"}, "a"), 0) << err();
  std::set<std::string> runs;
  for (const auto& record : runner::read_release_records(folder("a"), "seeded").value()) {
    for (const auto& one : record.studies) {
      for (const auto& run : one.runs) runs.insert(run.id);
    }
  }
  for (const auto& run : store("b")->trials().value()) EXPECT_EQ(runs.count(run.id), 1U);
}

}  // namespace merge_seeded_test
}  // namespace hyfreedp::cli
