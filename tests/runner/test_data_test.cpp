// No record is both for training and for test: within a spec, and between the runs of a folder.
#include "harness/runner/lineage/test_data.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "datasets/own/own_files.h"
#include "harness/runner/execute/budget.h"
#include "harness/runner/odometer/odometer.h"
#include "harness/runner/odometer/release.h"
#include "harness/runner/odometer/restored_releases.h"
#include "harness/runner/odometer/test_sets.h"
#include "tests/datasets/scratch.h"
#include "tests/runner/fake_world.h"

namespace hyfreedp::runner {
namespace test_data_test {

using ::testing::AllOf;
using ::testing::HasSubstr;

class TestData : public ::testing::Test {
 protected:
  TestData() {
    std::filesystem::create_directories(at(""));
    const auto rows_from = [](int first) {
      std::string rows;
      for (int i = first; i < first + 200; ++i) rows += fmt::format("{},{},{}\n", i, i * i % 17, i % 2);
      return rows;
    };
    const auto rows = rows_from(0);
    write("people/train.csv", rows.substr(0, rows.find('\n', 900) + 1));
    write("people/test.csv", rows.substr(rows.find('\n', 900) + 1));
    write("all.csv", rows);
    write("others.csv", rows_from(1000));
    write("more.csv", rows_from(2000));
  }
  std::string at(const std::string& name) const { return world_.out().root + "/" + name; }
  void write(const std::string& name, const std::string& rows) const {
    write_file_atomically(at(name), "x,y,label\n" + rows).value();
  }
  std::string table(const std::string& name) const {
    return "{name: table-file, labels: '0, 1', path: " + at(name) + "}";
  }
  static std::string spec_of(const std::string& name, const std::string& panels) {
    return "name: " + name +
           "\ntitle: t\nnoise_seed: s\ndefaults:\n  model: linear\n  seeds: [0]\n  epsilon: [3]\n  delta: "
           "1e-3\n"
           "  train: {sample_rate: 0.1, steps: 3, optimizer: sgd}\nrows: [{method: fixed-rate, options: {lr: "
           "0.1}}]\n"
           "panels:\n" +
           panels;
  }
  std::string panel(const std::string& id, const std::string& dataset, const std::string& test = "") const {
    return "  - {id: " + id + ", dataset: " + table(dataset) +
           (test.empty() ? "" : ", ood_test: [{id: shifted, dataset: " + table(test) + "}]") + "}\n";
  }
  // Why a spec of these panels is not read; empty: it is.
  std::string refusal(const std::string& panels) const {
    write_file_atomically(at("spec.yaml"), spec_of("s", panels)).value();
    const auto spec = load_spec(at("spec.yaml"));
    return spec ? "" : spec.error().message;
  }

  World world_;
  const datasets::ScopedVariable state_{"XDG_STATE_HOME", world_.out().root + "/state"};
};

TEST_F(TestData, OfThePanelsOwnRecordsAreRefusedByNameAndByContent) {
  EXPECT_EQ(refusal(panel("one", "others.csv", "more.csv")), "");
  EXPECT_THAT(refusal(panel("one", "people", "all.csv")),
              AllOf(HasSubstr("spec.yaml:12"),
                    HasSubstr("ood_test 'shifted' is table-file (all), and this panel trains "
                              "on table-file (people): the same data, by what the files contain")));
  EXPECT_THAT(refusal(panel("one", "all.csv", "people")), HasSubstr("the same data"));
  EXPECT_THAT(refusal(panel("one", "all.csv", "all.csv")), HasSubstr("the same data, by their name"));
}

// Two files that have some people in common; where rows are equal by chance, the spec says so.
TEST_F(TestData, ThatHaveSomeRecordsInCommonAreRefusedUnlessTheSpecSaysTheyAreOthers) {
  std::string next;
  for (int i = 180; i < 400; ++i) next += fmt::format("{},{},{}\n", i, i * i % 17, i % 2);
  write("next.csv", next);
  EXPECT_THAT(refusal(panel("one", "all.csv", "next.csv")),
              AllOf(HasSubstr("trains on table-file (all): the same data, by records in both"),
                    HasSubstr("say `other_people: true`")));
  auto said = panel("one", "all.csv", "next.csv");
  said.replace(said.rfind(at("next.csv")), at("next.csv").size(), at("next.csv") + ", other_people: true");
  EXPECT_EQ(refusal(said), "");
  // The odometer does not take the spec's word for it.
  World world;
  FakeExecutor executor;
  world.run(spec_of("said", said), executor);
  EXPECT_TRUE(odometer_of(world.store(), world.out()).value().find("table-file (all)")->is_lower_bound());
}

TEST_F(TestData, WithItsColumnsInAnotherOrderIsRefused) {
  std::string rows = "y,x,label\n";
  for (int i = 3000; i < 3050; ++i) rows += fmt::format("{},{},{}\n", i * i % 17, i, i % 2);
  write_file_atomically(at("turned.csv"), rows).value();
  EXPECT_THAT(refusal(panel("one", "all.csv", "turned.csv")),
              AllOf(HasSubstr("turned.csv: its columns are not those of"), HasSubstr("feature 1 is 'y'")));
}

TEST_F(TestData, OfAnotherPanelsRecordsAreRefused) {
  EXPECT_EQ(refusal(panel("one", "others.csv", "more.csv") + panel("two", "people")), "");
  EXPECT_THAT(refusal(panel("one", "others.csv", "all.csv") + panel("two", "people")),
              HasSubstr("in 'one' the ood_test 'shifted' is table-file (all), and panel 'two' trains on"));
}

TEST_F(TestData, OfTheRecordsOfAnEarlierRunAreRefusedAndTheOtherWayRound) {
  const auto trains = spec_of("trains", panel("one", "people"));
  const auto tests = spec_of("tests", panel("one", "others.csv", "all.csv"));
  const auto is_taken = [](World& world, const std::string& yaml) {
    return check_test_sets(world.store(), world.out(), world.read(yaml).content);
  };
  for (const auto& [first, second] : {std::pair{trains, tests}, {tests, trains}}) {
    World world;
    EXPECT_TRUE(is_taken(world, first));
    EXPECT_TRUE(is_taken(world, second));
    FakeExecutor executor;
    world.run(first, executor);
    EXPECT_TRUE(is_taken(world, first));
    const auto refused = is_taken(world, second);
    ASSERT_FALSE(refused);
    EXPECT_THAT(
        refused.error().message,
        AllOf(HasSubstr("the same data, by what the files contain"),
              HasSubstr(second == tests ? "'shifted' of this spec is table-file (all), and an earlier "
                                          "run of the folder trains on table-file (people)"
                                        : "'shifted' of an earlier run of the folder is table-file "
                                          "(all), and this spec trains on table-file (people)")));
    const auto free = spec_of("free", panel("one", "others.csv", "more.csv"));
    EXPECT_TRUE(is_taken(world, free));
    // A run that an earlier version made concerns its own data alone.
    world.run(second, executor);
    EXPECT_TRUE(is_taken(world, free));
    EXPECT_FALSE(is_taken(world, spec_of("again", panel("one", "people"))));
    bool was_tested_on = false;
    for (const auto& one : odometer_of(world.store(), world.out()).value().data) {
      was_tested_on = was_tested_on || (one.was_tested_on && one.is_lower_bound());
    }
    EXPECT_TRUE(was_tested_on);
  }
}

// A part of what was trained on, found by the marks of single records. Where these are lost, or are
// another user's, nobody can tell.
TEST_F(TestData, OfWhichNobodyCanTellIsRefused) {
  std::string part;
  for (int i = 50; i < 90; ++i) part += fmt::format("{},{},{}\n", i, i * i % 17, i % 2);
  write("part.csv", part);
  const auto trains = spec_of("trains", panel("one", "all.csv"));
  const auto tests = spec_of("tests", panel("one", "others.csv", "part.csv"));
  const auto free = spec_of("free", panel("one", "others.csv", "more.csv"));
  const auto why_not = [](World& world, const std::string& yaml) {
    const auto taken = check_test_sets(world.store(), world.out(), world.read(yaml).content);
    return taken ? "" : taken.error().message;
  };
  const auto lower_bounds = [](World& world) {
    const auto odometer = odometer_of(world.store(), world.out()).value();
    return std::ranges::count_if(odometer.data, &Spending::was_tested_on);
  };
  for (const auto& [first, second, marked] :
       {std::tuple{trains, tests, "all.csv"}, {tests, trains, "part.csv"}}) {
    ASSERT_TRUE(remove_folder(at("state")));
    World world;
    FakeExecutor executor;
    world.run(first, executor);
    EXPECT_EQ(lower_bounds(world), 0);
    for (const auto& entry : std::filesystem::directory_iterator(at("state/hyfreedp/content"))) {
      if (entry.path().string().ends_with(".records.json")) std::filesystem::remove(entry.path());
    }
    EXPECT_THAT(why_not(world, second), HasSubstr("whether records are in both is not known"));
    world.run(second, executor);  // as an earlier version did
    EXPECT_GT(lower_bounds(world), 0);
    // Marked again, they are known to have records in common; others are known to have none.
    for (const auto* file : {marked, "others.csv"}) ASSERT_EQ(refusal(panel("one", file)), "");
    EXPECT_THAT(why_not(world, second), HasSubstr("by records in both"));
    EXPECT_EQ(why_not(world, free), "");
    const datasets::ScopedVariable other{"XDG_STATE_HOME", at("other-state")};
    EXPECT_THAT(why_not(world, free), HasSubstr("is not known"));
  }
}

// Without a secret no records are marked: files with a published checksum are read all the same.
TEST_F(TestData, OfASpecByItselfIsRefusedWhereNobodyCanTell) {
  std::string shuffled;
  for (int i = 199; i >= 0; --i) shuffled += fmt::format("{},{},{}\n", i, i * i % 17, i % 2);
  write("shuffled.csv", shuffled);
  const auto with_checksum = [&](const std::string& name) {
    const auto sum = datasets::own_files_checksum(at(name)).value();
    return "{name: table-file, labels: '0, 1', sha256: " + sum + ", path: " + at(name) + "}";
  };
  const auto tested = [&](const std::string& test) {
    return spec_of("sums", "  - {id: one, dataset: " + with_checksum("all.csv") +
                               ", ood_test: [{id: shifted, dataset: " + with_checksum(test) + "}]}\n");
  };
  const auto why_not = [&](const std::string& yaml) {
    write_file_atomically(at("spec.yaml"), yaml).value();
    const auto spec = load_spec(at("spec.yaml"));
    if (!spec) return spec.error().message;
    World world;
    const auto taken = check_test_sets(world.store(), world.out(), spec->content);
    return taken ? "" : taken.error().message;
  };
  EXPECT_THAT(why_not(tested("shuffled.csv")), HasSubstr("the same data, by what the files contain"));
  EXPECT_EQ(why_not(tested("more.csv")), "");
  const datasets::ScopedVariable nowhere{"XDG_STATE_HOME", std::nullopt}, homeless{"HOME", std::nullopt};
  EXPECT_THAT(why_not(tested("shuffled.csv")), HasSubstr("whether records are in both is not known"));
  EXPECT_THAT(why_not(spec_of("sums", "  - {id: one, dataset: " + with_checksum("all.csv") + "}\n")),
              testing::IsEmpty());
}

// The test split that belongs to the data is printed without noise like any other test set.
TEST_F(TestData, ThatBelongToTheDataOfARunAreTrainedOnByNoOther) {
  std::string parts[3];
  for (int i = 0; i < 180; ++i) parts[i / 60] += fmt::format("{},{},{}\n", i, i * i % 13 + 20, i % 2);
  for (const auto& [name, train] : {std::pair{"first", 0}, {"second", 1}}) {
    write(fmt::format("{}/train.csv", name), parts[train]);
    write(fmt::format("{}/test.csv", name), parts[train + 1]);
  }
  EXPECT_EQ(refusal(panel("one", "first") + panel("two", "first")), "");
  EXPECT_EQ(refusal(panel("one", "first") + panel("two", "people")), "");
  EXPECT_THAT(refusal(panel("one", "first") + panel("two", "second")),
              HasSubstr("in 'one' the test split is table-file (first), and panel 'two' trains on table-file "
                        "(second): the same data, by what the files contain"));
  const auto one = spec_of("one", panel("one", "first")), two = spec_of("two", panel("two", "second"));
  for (const auto& [before, after] : {std::pair{one, two}, {two, one}}) {
    World world;
    FakeExecutor executor;
    world.run(before, executor);
    EXPECT_TRUE(check_test_sets(world.store(), world.out(), world.read(before).content));
    const auto taken = check_test_sets(world.store(), world.out(), world.read(after).content);
    ASSERT_FALSE(taken);
    EXPECT_THAT(taken.error().message,
                HasSubstr(after == one ? "the test split of this spec is"
                                       : "the test split of an earlier run of the folder is"));
    world.run(after, executor);  // as an earlier version did
    std::map<std::string, bool> told;
    const auto odometer = odometer_of(world.store(), world.out()).value();
    for (const auto& data : odometer.data) {
      told[data.title()] = data.is_lower_bound();
    }
    EXPECT_EQ(told,
              (std::map<std::string, bool>{{"table-file (first)", false}, {"table-file (second)", true}}));
  }
}

// Two halves, each of which is for training in one and for test in the other; and copies and other
// layouts that divide the records alike.
TEST_F(TestData, ThatTwoNamesDivideOtherwiseAreRefused) {
  std::string halves[2];
  for (int i = 0; i < 200; ++i) halves[i / 100] += fmt::format("{},{},{}\n", i, i * i % 13 + 20, i % 2);
  for (const std::string name : {"first", "second", "copy"}) {
    const bool swapped = name == "second";
    write(name + "/train.csv", halves[swapped ? 1 : 0]);
    write(name + "/test.csv", halves[swapped ? 0 : 1]);
  }
  EXPECT_THAT(refusal(panel("one", "first") + panel("two", "second")),
              HasSubstr("the same data, by what the files contain"));
  EXPECT_EQ(refusal(panel("one", "first") + panel("two", "copy")), "");
  World world;
  FakeExecutor executor;
  world.run(spec_of("one", panel("one", "first")), executor);
  const auto two = spec_of("two", panel("two", "second"));
  EXPECT_FALSE(check_test_sets(world.store(), world.out(), world.read(two).content));
}

// What identified the data of a run is recorded, and not only computed when it is read.
class RecordedData : public TestData {
 protected:
  // Two names of the same records, one of them a link.
  RecordedData() {
    std::filesystem::create_directories(at("elsewhere"));
    std::filesystem::create_symlink("people", at("linked"));
    FakeExecutor executor;
    world_.run(spec_of("one", panel("one", "linked")), executor);
    world_.run(spec_of("two", panel("two", "all.csv")), executor);
  }
  std::vector<std::string> titles() {
    std::vector<std::string> all;
    for (const auto& one : read().data) all.push_back(one.title());
    return all;
  }
  Odometer read() { return odometer_of(world_.store(), world_.out()).value(); }
};

TEST_F(RecordedData, IsTheSameThoughLinksMarksAndTheSecretAreGone) {
  const std::vector<std::string> one_set{"table-file (all) = table-file (people)"};
  ASSERT_EQ(titles(), one_set);
  ASSERT_TRUE(remove_folder(at("state/hyfreedp/content")));
  EXPECT_EQ(titles(), one_set);
  ASSERT_TRUE(remove_folder(at("state")));
  EXPECT_EQ(titles(), one_set);
  std::filesystem::remove(at("linked"));
  std::filesystem::remove(at("all.csv"));
  EXPECT_THAT(titles(), testing::SizeIs(1));
  EXPECT_TRUE(read().may_be(read().data.at(0)).empty());
}

// Though the user had no secret when the published data were run.
TEST_F(TestData, PublishedDataBesideOwnDataAreToldApart) {
  FakeExecutor executor;
  world_.run(spec_of("published", "  - {id: one, dataset: fashion-mnist}\n"), executor);
  world_.run(spec_of("own", panel("one", "people")), executor);
  const auto odometer = odometer_of(world_.store(), world_.out()).value();
  ASSERT_THAT(odometer.data, testing::SizeIs(2));
  for (const auto& one : odometer.data) EXPECT_TRUE(odometer.may_be(one).empty()) << one.title();
}

// With the database, which the release record restores.
TEST_F(RecordedData, IsInTheReleaseRecordToo) {
  const auto seeded = spec_of("again", panel("one", "linked"));
  auto unseeded = seeded;
  unseeded.replace(unseeded.find("noise_seed: s\n"), 14, "");
  for (const auto& spec : {seeded, unseeded}) {
    World world;
    FakeExecutor executor;
    world.run(spec, executor);
    const auto fresh = results::Store::in_memory().value();
    ASSERT_TRUE(restore_for(*fresh, world.out(), "again"));
    const auto known = world.store().data().value();
    EXPECT_FALSE(known.empty());
    EXPECT_EQ(fresh->data().value(), known);
  }
}

TEST_F(RecordedData, MayBeTheSameWhereMarksAreMissing) {
  // As an earlier version left the folder.
  const auto store = results::Store::in_memory().value();
  for (const auto& run : world_.store().trials().value()) ASSERT_TRUE(store->put_trial(run, {}, {}));
  EXPECT_THAT(odometer_of(*store, world_.out())->data, testing::SizeIs(1)) << "computed from what is there";
  ASSERT_TRUE(remove_folder(at("state/hyfreedp/content")));
  const auto apart = odometer_of(*store, world_.out()).value();
  ASSERT_THAT(apart.data, testing::SizeIs(2));
  EXPECT_THAT(apart.may_be(apart.data.at(0)), testing::ElementsAre("table-file (people)"));
  EXPECT_THAT(apart.may_be(apart.data.at(1)), testing::ElementsAre("table-file (all)"));
  auto budget = Budget::open(*store, world_.out(), Cap{1000, 1e-3}).value();
  const auto spec = world_.read(spec_of("three", panel("three", "others.csv")));
  const auto refused = budget.reserve(plan_release(spec).value());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              AllOf(HasSubstr("whether it is the same data as table-file (all), table-file (people) is not "
                              "known"),
                    HasSubstr("no limit can be guaranteed")));
}

TEST_F(RecordedData, OfAnotherUserMayBeTheSame) {
  const datasets::ScopedVariable other{"XDG_STATE_HOME", at("other-state")};
  FakeExecutor executor;
  world_.run(spec_of("three", panel("three", "others.csv")), executor);
  const auto odometer = read();
  ASSERT_THAT(odometer.data, testing::SizeIs(2));
  EXPECT_THAT(odometer.may_be(odometer.data.at(0)), testing::SizeIs(1));
  EXPECT_THAT(odometer.may_be(odometer.data.at(1)), testing::SizeIs(1));
}

}  // namespace test_data_test
}  // namespace hyfreedp::runner
