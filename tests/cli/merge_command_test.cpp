// Folders of several machines in one: nothing is lost, nothing is counted twice, and what
// contradicts is refused before anything is written.
#include <SQLiteCpp/SQLiteCpp.h>
#include <filesystem>
#include <gmock/gmock.h>

#include "results/store/states.h"
#include "tests/cli/merge_folders.h"

namespace hyfreedp::cli {
namespace merge_command_test {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(Merge, BringsWhatOtherMachinesRan) {
  const auto one = spec_of(kProdigyRow + kSelectionRow, "one");
  const auto two = spec_of(kSearchRow + kFixedRow, "two");
  const auto seeded = spec_of(kSelectionRow + kFixedRow, "seeded", "s-1");
  fill("a", one);
  fill("b", two);
  fill("c", seeded);
  for (const auto& spec : {one, two, seeded}) fill("all", spec);
  const auto of_b = rows("b", "two");
  const auto of_c = rows("c", "seeded");
  ASSERT_EQ(merge({"b", "c"}, "a"), 0) << err();
  EXPECT_THAT(out(), HasSubstr("4 studies new or newly answered, 0 the same already."));
  EXPECT_THAT(out(), HasSubstr("New specs: seeded, two."));
  EXPECT_EQ(rows("a", "two"), of_b);
  EXPECT_EQ(rows("a", "seeded"), of_c);
  EXPECT_NEAR(odometer("a"), odometer("all"), 1e-9) << "as if one machine had run everything";
  EXPECT_TRUE(fs::exists(folder("a").release_record("two")));
  for (const auto& trial : store("b")->trials().value()) {
    const auto journal = folder("a").journal(trial.id);
    ASSERT_TRUE(fs::exists(journal));
    EXPECT_EQ(fs::status(journal).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  }
  // The next run there has nothing to train.
  for (const auto& spec : {one, two, seeded}) {
    runner::FakeExecutor again;
    fill("a", spec, again);
    EXPECT_TRUE(again.submitted.empty());
  }
}

TEST_F(Merge, WhatIsEqualIsOne) {
  const auto seeded = spec_of(kSelectionRow + kFixedRow, "seeded", "s-1");
  fill("a", seeded);
  fill("b", seeded);
  fs::copy(path("a"), path("copy"), fs::copy_options::recursive);
  const auto before = content("a");
  const auto spent = odometer("a");
  ASSERT_EQ(merge({"b", "copy"}, "a"), 0) << err();
  EXPECT_THAT(out(), HasSubstr("0 studies new or newly answered, 4 the same already."));
  EXPECT_EQ(content("a"), before);
  EXPECT_EQ(odometer("a"), spent);
  fill("u", spec_of(kSelectionRow + kProdigyRow, "drawn"));
  fs::copy(path("u"), path("v"), fs::copy_options::recursive);
  const auto drawn = odometer("u");
  ASSERT_EQ(merge({"v"}, "u"), 0) << err();
  EXPECT_EQ(odometer("u"), drawn) << "a copy is no second release";
}

// The sizes of its files tell how many runs a private selection made.
TEST_F(Merge, AFolderThatGetsAPrivateSelectionIsClosedToOthers) {
  const auto open = fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec;
  fill("a", spec_of(kFixedRow, "one"));
  fs::permissions(path("a"), open);
  fill("seeded", spec_of(kSelectionRow, "seeded", "s-1"));
  fill("fixed", spec_of(kProdigyRow, "fixed"));
  ASSERT_EQ(merge({"seeded", "fixed"}, "a"), 0) << err();
  EXPECT_EQ(fs::status(path("a")).permissions(), open) << "of these the number of runs is public";
  fill("b", spec_of(kSelectionRow, "drawn"));
  ASSERT_EQ(merge({"b"}, "a"), 0) << err();
  EXPECT_THAT(out(), HasSubstr("was open to other users and is its owner's alone now"));
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms::owner_all);
}

// Each folder has drawn its own, of which neither lists its runs yet.
TEST_F(Merge, TwoOpenSelectionsAreNotOne) {
  const auto drawn = spec_of(kSelectionRow, "drawn");
  fill_killed("a", drawn);
  fill_killed("b", drawn);
  expect_refused_unchanged({"b"}, {"two releases of the same data", "Begun in both: drawn, small, dp-hyper"});
}

TEST_F(Merge, AnotherResultOfTheSameRunRefusesEverything) {
  const auto seeded = spec_of(kFixedRow, "seeded", "s-1");
  fill("a", seeded);
  runner::FakeExecutor other;
  other.test_shift = 0.5;
  fill("b", seeded, other);
  fill("c", spec_of(kProdigyRow, "fine", "s-1"));
  const auto id = store("a")->trials()->at(0).id;
  expect_refused_unchanged({"c", "b"},
                           {"the run " + id + " has other metrics", path("b"), "Nothing was merged"});
}

TEST_F(Merge, AnotherHashOfAStepIsAContradiction) {
  const auto seeded = spec_of(kFixedRow, "seeded", "s-1");
  fill("a", seeded);
  fill("b", seeded);
  SQLite::Database(folder("b").database(), SQLite::OPEN_READWRITE)
      .exec("UPDATE steps SET hash = 'x' WHERE step = 3");
  expect_refused_unchanged({"b"}, {"has other metrics, events or noise keys"});
}

TEST_F(Merge, AnotherEpsilonOfTheSameRowIsAContradiction) {
  const auto seeded = spec_of(kFixedRow, "seeded", "s-1");
  fill("a", seeded);
  fill("b", seeded);
  SQLite::Database(folder("b").database(), SQLite::OPEN_READWRITE)
      .exec("UPDATE studies SET total = json_set(total, '$.epsilon', 1.25)");
  expect_refused_unchanged({"b"}, {"seeded, small, fixed, epsilon 3, seed 0", "epsilon 1.25"});
}

TEST_F(Merge, AnotherSpecOfTheSameNameIsAContradiction) {
  fill("a", spec_of(kFixedRow, "seeded", "s-1"));
  fill("b", spec_of(kProdigyRow, "seeded", "s-1"));
  expect_refused_unchanged({"b"}, {"different specs named 'seeded'"});
  EXPECT_THAT(err(), Not(HasSubstr("in their seeds alone")));
  fill("e", with_seeds(spec_of(kFixedRow, "seeded", "s-1"), "[1]"));
  expect_refused_unchanged({"e"}, {"differ in their seeds alone", "--only seed=..."});
  fill("c", spec_of(kProdigyRow, "another", "s-1"));
  fill("d", spec_of(kFixedRow, "another", "s-1"));
  expect_refused_unchanged({"c", "d"}, {"different specs named 'another'"});
}

// Two keys, two releases: no row could show the epsilon of both.
TEST_F(Merge, AnUnseededSpecThatTwoMachinesRanIsRefused) {
  fill("a", spec_of(kSelectionRow + kFixedRow));
  fill("b", spec_of(kSelectionRow + kFixedRow));
  expect_refused_unchanged({"b"}, {"both run 'hidden', which has no noise_seed"});
}

// Two machines shared the seeds of one spec without a noise seed: each row is one release.
TEST_F(Merge, SeedsOfAnUnseededSpecThatTwoMachinesSharedMakeOneTable) {
  const auto yaml = with_seeds(spec_of(kSelectionRow + kFixedRow), "[0, 1, 2, 3]");
  fill_part("a", yaml, {"seed=0,seed=1"});
  fill_part("b", yaml, {"seed=2"});
  fill_part("c", yaml, {"seed=3"});
  const double of_a = odometer("a"), of_b = odometer("b"), of_c = odometer("c");
  const auto of_seed = [](const std::string& rows, int seed) {
    std::string found;
    std::istringstream lines(rows);
    for (std::string line; std::getline(lines, line);) {
      if (line.find(fmt::format("\"seed\":{},", seed)) != std::string::npos) found += line + "\n";
    }
    return found;
  };
  const auto rows_a = rows("a", "hidden"), rows_b = rows("b", "hidden");
  ASSERT_EQ(merge({"b"}, "a"), 0) << err();
  EXPECT_THAT(out(), HasSubstr("2 studies new or newly answered"));
  EXPECT_EQ(of_seed(rows("a", "hidden"), 0), of_seed(rows_a, 0));
  EXPECT_EQ(of_seed(rows("a", "hidden"), 2), of_seed(rows_b, 2));
  EXPECT_NE(of_seed(rows_b, 2), "");
  EXPECT_GT(odometer("a"), std::max(of_a, of_b)) << "both stay charged";
  // The rest can be trained here, under this folder's own key, or come from elsewhere.
  fs::copy(path("a"), path("rest"), fs::copy_options::recursive);
  runner::FakeExecutor executor;
  fill("rest", yaml, executor);
  EXPECT_FALSE(executor.submitted.empty());
  EXPECT_EQ(of_seed(rows("rest", "hidden"), 2), of_seed(rows_b, 2));
  ASSERT_EQ(merge({"c"}, "a"), 0) << err();
  for (const auto& study : store("a")->studies("hidden").value()) EXPECT_TRUE(results::is_answered(study));
  EXPECT_GT(odometer("a"), of_c);
  runner::FakeExecutor none;
  fill("a", yaml, none);
  EXPECT_TRUE(none.submitted.empty());
  // Into a folder of its own.
  ASSERT_EQ(merge({"a", "b"}, "new"), 0) << err();
  EXPECT_EQ(odometer("new"), odometer("a"));
  ASSERT_EQ(merge({"b"}, "a"), 0) << "it is all there: " << err();
}

TEST_F(Merge, ARowOfAnUnseededSpecThatWasBegunTwiceIsNamed) {
  const auto yaml = with_seeds(spec_of(kSelectionRow + kFixedRow), "[0, 1, 2]");
  fill_part("a", yaml, {"seed=0,seed=1"});
  fill_part("b", yaml, {"seed=1,seed=2"});
  expect_refused_unchanged({"b"}, {"both run 'hidden', which has no noise_seed",
                                   "Begun in both: ", "dp-hyper, epsilon 3, seed 1"});
  runner::FakeExecutor killed;
  killed.fate = [](const auto&) { return runner::Fate::kill; };
  fill_part("c", with_seeds(spec_of(kFixedRow, "one"), "[0, 1]"), {"seed=0"});
  fill_part("d", with_seeds(spec_of(kFixedRow, "one"), "[0, 1]"), {"seed=1"}, killed);
  EXPECT_EQ(merge({"d"}, "c"), 2);
  EXPECT_THAT(err(), HasSubstr("begun and not over"));
}

TEST_F(Merge, AnUnseededRunThatTwoSpecsShareIsRefused) {
  fill("a", spec_of(kFixedRow, "one"));
  fill("b", spec_of(kFixedRow, "two"));
  const auto id = store("a")->trials()->at(0).id;
  ASSERT_EQ(store("b")->trials()->at(0).id, id);
  expect_refused_unchanged({"b"}, {"the run " + id, "two releases of the same data"});
  // Equal results do not make it one release.
  fill_killed("c", spec_of(kFixedRow, "three"));
  expect_refused_unchanged({"c"}, {"the run " + id});
}

TEST_F(Merge, HiddenRunsAreNotNamed) {
  fill("a", spec_of(kSelectionRow, "seeded", "s-1"));
  runner::FakeExecutor other;
  other.test_shift = 0.5;
  fill("b", spec_of(kSelectionRow, "seeded", "s-1"), other);
  const auto study = store("a")->studies("seeded")->at(0);
  ASSERT_GT(study.trials.size(), 1u);
  expect_refused_unchanged({"b"}, {"may belong to a private selection", study.reported_trial});
  for (const auto& id : study.trials) {
    if (id != study.reported_trial) {
      EXPECT_THAT(err(), Not(HasSubstr(id)));
    }
  }
}

TEST_F(Merge, ARunThatIsNotOverComesWithWhatItBookedAndWithoutItsKey) {
  struct Case {
    bool has_journal, is_recorded;
  };
  for (const auto& [has_journal, is_recorded] :
       {Case{true, true}, {false, true}, {true, false}, {false, false}}) {
    for (const char* name : {"a", "b"}) fs::remove_all(path(name));
    fill_killed("b", spec_of(kFixedRow));
    const auto id = store("b")->trials()->at(0).id;
    ASSERT_TRUE(fs::exists(folder("b").key(id)));
    if (!has_journal) fs::remove(folder("b").journal(id));
    if (!is_recorded)
      SQLite::Database(folder("b").database(), SQLite::OPEN_READWRITE).exec("DELETE FROM trials");
    const auto spent = odometer("b");
    EXPECT_GT(spent, 0);
    ASSERT_EQ(merge({"b"}, "a"), 0) << err();
    EXPECT_THAT(out(), HasSubstr("has runs that are not over"));
    EXPECT_NEAR(odometer("a"), spent, 1e-9) << has_journal << is_recorded;
    EXPECT_FALSE(fs::exists(folder("a").keys()));
  }
}

// Its key stays where it is, and other draws would release the same data a second time.
TEST_F(Merge, AnOpenPrivateSelectionCannotGoOnElsewhere) {
  const auto yaml = spec_of(kSelectionRow);
  std::size_t drawn = 0;
  for (int attempt = 0; drawn == 0 && attempt < 30; ++attempt) {
    fs::remove_all(path("b"));
    fill_killed("b", yaml);
    drawn = store("b")->trials()->size();
  }
  const auto spent = odometer("b");
  ASSERT_EQ(merge({"b"}, "a"), 0) << err();
  EXPECT_NEAR(odometer("a"), spent, 1e-9);
  EXPECT_FALSE(fs::exists(folder("a").draw_key("hidden")));
  runner::FakeExecutor executor;
  const auto ran = try_fill("a", yaml, executor);
  ASSERT_FALSE(ran);
  EXPECT_THAT(ran.error().message, HasSubstr("the key of this spec's draws is gone"));
  EXPECT_TRUE(executor.submitted.empty());
}

// A folder was copied, and the copy went on under the same keys.
TEST_F(Merge, ACopyThatWentOnIsTheSameRelease) {
  const auto yaml = spec_of(kFixedRow + kProdigyRow);
  fill_killed("a", yaml);
  fs::copy(path("a"), path("b"), fs::copy_options::recursive);
  fill("b", yaml);
  const auto of_b = rows("b", "hidden");
  const auto spent = odometer("b");
  ASSERT_EQ(merge({"b"}, "a"), 0) << err();
  EXPECT_THAT(out(), HasSubstr("2 studies new or newly answered"));
  EXPECT_EQ(rows("a", "hidden"), of_b);
  EXPECT_EQ(odometer("a"), spent);
  runner::FakeExecutor again;
  fill("a", yaml, again);
  EXPECT_TRUE(again.submitted.empty());
  EXPECT_EQ(rows("a", "hidden"), of_b);
}

// Both went on: under the same keys at first, and under others since.
TEST_F(Merge, TwoCopiesThatWentOnAreTwoReleases) {
  const auto yaml = spec_of(kFixedRow);
  fill_killed("a", yaml);
  fs::copy(path("a"), path("b"), fs::copy_options::recursive);
  runner::FakeExecutor elsewhere;
  elsewhere.machine = "another";  // which cannot repeat the noise: a new attempt
  elsewhere.fate = [](const auto&) { return runner::Fate::kill; };
  fill("b", yaml, elsewhere);
  fill("a", yaml);
  expect_refused_unchanged({"b"}, {"the run "});
}

TEST_F(Merge, RetiredRowsStayInTheOdometer) {
  fs::create_directories(path("a"));
  fs::permissions(path("a"), fs::perms::owner_all | fs::perms::group_all);
  fill("b", spec_of(kSelectionRow + kFixedRow));
  {
    auto replaced = store("b");
    auto spec = replaced->spec("hidden").value().value();
    spec.hash = "another";
    spec.name = "hidden";
    ASSERT_TRUE(replaced->put_spec(spec, true));
    ASSERT_EQ(replaced->retired_studies()->size(), 2u);
  }
  const auto spent = odometer("b");
  for (int time = 0; time < 2; ++time) {
    ASSERT_EQ(merge({"b"}, "a"), 0) << err();
    EXPECT_EQ(store("a")->retired_studies()->size(), 2u);
    EXPECT_NEAR(odometer("a"), spent, 1e-9);
  }
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms::owner_all) << "a selection's runs can be counted";
}

TEST_F(Merge, AFolderInWhichARunWorksIsRefused) {
  fill("b", spec_of(kFixedRow));
  const auto lock = runner::FolderLock::acquire(folder("b"));
  ASSERT_TRUE(lock);
  EXPECT_EQ(merge({"b"}, "a"), 2);
  EXPECT_THAT(err(), HasSubstr("a run works in " + path("b")));
}

TEST_F(Merge, BadInputIsRefused) {
  expect_refused({}, {"name the folders to bring"});
  expect_refused({path("nowhere"), "--out", path("a")}, {"there is no folder"});
  EXPECT_FALSE(fs::exists(path("a")));
  fill("b", spec_of(kFixedRow));
  expect_refused({path("b"), "--out", path("b")}, {"are the same folder"});
}

TEST_F(Merge, ADamagedJournalRefusesEverythingAndIsNotNamed) {
  fill("a", spec_of(kFixedRow, "one"));
  fill_killed("b", spec_of(kSelectionRow, "two"));
  const auto trials = store("b")->trials().value();
  ASSERT_FALSE(trials.empty());
  const auto journal = folder("b").journal(trials[0].id);
  auto text = read_file(journal).value();
  text[text.find("\"step\"") + 1] = 'S';
  ASSERT_TRUE(write_file_atomically(journal, text, 0600));
  expect_refused_unchanged({"b"}, {"a journal cannot be read or was changed"});
  EXPECT_THAT(err(), Not(HasSubstr(trials[0].id)));
}

// A comparison that stops after 4 of 8 seeds, on two machines.
class MergeOfSequentialSeeds : public Merge {
 protected:
  static std::string yaml(const std::string& noise_seed = "s-1") {
    auto text = spec_of(
        "  - {id: a, method: fixed-rate, options: {lr: 5e-2}}\n"
        "  - {id: b, method: fixed-rate, options: {lr: 2e-2}}\n"
        "  - {id: c, method: fixed-rate, options: {lr: 1e-2}}\n",
        "seq", noise_seed);
    const std::string seeds = "seeds: [0]";
    return text.replace(text.find(seeds), seeds.size(),
                        "seeds: {until: paired interval of a - b excludes 0, from: 3, to: 8}");
  }
  static runner::FakeExecutor worker() {
    runner::FakeExecutor executor;
    executor.test_accuracy = [](const trial::TrialConfig& config) {
      const bool is_a = double_or(config.controller.options, "lr", 0) == 5e-2;
      return is_a ? 0.7 + (config.seed % 2 == 0 ? 0.01 : 0) : 0.5;
    };
    return executor;
  }
  // What `hyfreedp run` trains there.
  std::size_t go_on(const std::string& name, const std::string& text, std::optional<double> lost_rate = {},
                    std::int64_t lost_seed = -1) const {
    auto executor = worker();
    executor.fate = [=](const trial::TrialConfig& config) {
      const bool is_lost = lost_rate && double_or(config.controller.options, "lr", 0) == *lost_rate &&
                           (lost_seed < 0 || config.seed == lost_seed);
      return is_lost ? runner::Fate::kill : runner::Fate::finish;
    };
    fill(name, text, executor);
    return executor.submitted.size();
  }
};

// One folder began a row, the other booked all.
TEST_F(MergeOfSequentialSeeds, WhatEachBookedOfASeededComparisonStays) {
  runner::FakeExecutor killed;
  killed.fate = [](const auto&) { return runner::Fate::kill; };
  fill_part("a", yaml(), {"row=c"}, killed);
  go_on("b", yaml(), 5e-2);
  const auto booked = odometer("b");
  ASSERT_GT(booked, odometer("a"));
  for (const auto& [from, into] : {std::pair("b", "a"), std::pair("a", "b")}) {
    fs::copy(path(into), path("merged"), fs::copy_options::recursive);
    ASSERT_EQ(merge({from}, "merged"), 0) << err();
    EXPECT_NEAR(odometer("merged"), booked, 1e-9 * booked);
    go_on("merged", yaml());
    EXPECT_NEAR(odometer("merged"), booked, 1e-9 * booked);
    fs::remove_all(path("merged"));
  }
}

// Neither could look: each lost what the other has.
TEST_F(MergeOfSequentialSeeds, PartsOfTheSeedsMakeOneComparison) {
  EXPECT_EQ(go_on("all", yaml()), 3u * 4);
  EXPECT_EQ(go_on("a", yaml(), 5e-2), 3u * 3);
  EXPECT_EQ(go_on("b", yaml(), 2e-2), 3u * 3);
  const double spent = odometer("all");
  EXPECT_NEAR(odometer("a"), spent, 1e-9 * spent) << "all seeds are booked";
  ASSERT_EQ(merge({"b"}, "a"), 0) << err();
  EXPECT_NEAR(odometer("a"), spent, 1e-9 * spent);
  EXPECT_EQ(go_on("a", yaml()), 3u) << "the fourth seed alone";
  EXPECT_EQ(rows("a", "seq"), rows("all", "seq"));
  EXPECT_NEAR(odometer("a"), spent, 1e-9 * spent);
}

TEST_F(MergeOfSequentialSeeds, OneThatStoppedAndOneUnderWayAreStopped) {
  for (const std::string into : {"a", "b"}) {
    for (const char* name : {"a", "b"}) fs::remove_all(path(name));
    go_on("a", yaml());
    go_on("b", yaml(), 2e-2, 3);
    const auto all = rows("a", "seq");
    const double spent = odometer("a");
    ASSERT_EQ(merge({into == "a" ? "b" : "a"}, into), 0) << err();
    EXPECT_EQ(rows(into, "seq"), all) << into;
    EXPECT_NEAR(odometer(into), spent, 1e-9 * spent) << into;
    EXPECT_EQ(go_on(into, yaml()), 0u) << into;
  }
}

TEST_F(MergeOfSequentialSeeds, WithoutANoiseSeedTwoMachinesAreRefused) {
  go_on("a", yaml(""), 5e-2);
  go_on("b", yaml(""), 2e-2);
  expect_refused_unchanged({"b"}, {"both run 'seq', which has no noise_seed"});
}

}  // namespace merge_command_test
}  // namespace hyfreedp::cli
