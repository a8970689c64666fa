// A part of a spec (`--only`), a changed spec (`--set`), and how two specs differ (`diff`), as
// commands say it.
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "harness/runner/execute/study_run.h"
#include "results/table/cell_text.h"
#include "tests/cli/command_fixture.h"
#include "tests/runner/lost_files.h"

namespace hyfreedp::cli {
namespace changed_spec_test {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kSpec = R"(name: changed
title: As written
panels:
  - id: small
    dataset: {name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}
    model: linear
    seeds: [0, 1]
    epsilon: [3]
    delta: 1e-5
    train: {sample_rate: 0.1, steps: 6, optimizer: adamw}
    rows:
      - {method: fixed-rate, options: {lr: 5e-2}}
      - {method: prodigy}
)";

class Changed : public CommandTest {
 protected:
  explicit Changed(const std::string& command = "run") : CommandTest(command) {}

  void SetUp() override {
    CommandTest::SetUp();
    spec_ = file("changed.yaml", kSpec);
  }
  // The spec as the database has it: its rows are open.
  void enter() {
    const runner::OutFolder folder{path("out")};
    std::filesystem::create_directories(folder.root);
    const auto store = results::Store::open(folder.database(), results::Store::Mode::read_write).value();
    auto spec = runner::load_spec(spec_).value();
    ASSERT_TRUE(runner::enter_spec(*store, folder, spec, false, false));
  }
  int in_folder(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--out", path("out")});
    return run(std::move(arguments));
  }

  std::string spec_;
};

class RunChanged : public Changed {};

TEST_F(RunChanged, ADryRunIsOfThePartAskedFor) {
  ASSERT_EQ(in_folder({spec_, "--dry-run", "--only", "row=prodigy,seed=1"}), 0) << err();
  EXPECT_THAT(out(), AllOf(HasSubstr("1 study of 1 cell"), HasSubstr("prodigy"),
                           HasSubstr("1 trial to start with"), Not(HasSubstr("fixed-rate"))));
  expect_refused({spec_, "--dry-run", "--only", "row=prodgy"},
                 {"there is no row prodgy", "Did you mean 'prodigy'?"});
  expect_refused({"experiments/none.yaml", "--only", "a"}, {"there is no file"});
}

// The cap is of what would run.
TEST_F(RunChanged, ACapIsOfThePartAskedFor) {
  const std::vector<std::string> capped = {"--cap", "3.5", "--cap-delta", "1e-5", "--dry-run"};
  auto whole = capped;
  whole.insert(whole.begin(), spec_);
  EXPECT_EQ(in_folder(whole), 2) << out();
  auto part = whole;
  part.insert(part.end(), {"--only", "row=prodigy,seed=1"});
  EXPECT_EQ(in_folder(part), 0) << err();
  EXPECT_THAT(out(), HasSubstr("--cap 3.5 lets all of this start."));
}

TEST_F(RunChanged, WhatTrainsNothingHasNoParts) {
  const auto analytic = std::string(HYFREEDP_SOURCE_DIR) + "/experiments/papers/mohapatra/table-1.yaml";
  expect_refused({analytic, "--only", "a"}, {"it trains nothing, so that --only has nothing to choose from"});
}

TEST_F(RunChanged, ASettingIsCheckedAsTheFileIs) {
  ASSERT_EQ(in_folder({spec_, "--dry-run", "--set", "panels.small.train.steps=60", "--set", "name=longer"}),
            0)
      << err();
  EXPECT_THAT(out(), AllOf(StartsWith("longer: As written"), HasSubstr("T = 60")));
  expect_refused({spec_, "--set", "panels.small.train.steps=many"},
                 {"hyfreedp run: --set panels.small.train.steps: panels[0].train.steps must be"});
}

// As `hyfreedp new spec` writes it, without `panels`.
TEST_F(RunChanged, ASettingOfDefaultsIsOneOfTheTopLevel) {
  const auto flat =
      file("flat.yaml",
           "name: flat\ndataset: {name: synthetic, train: 2000}\nmodel: linear\nseeds: [0]\n"
           "epsilon: [3]\ntrain: {sample_rate: 0.1, steps: 6, optimizer: adamw}\nrows: [prodigy]\n");
  ASSERT_EQ(in_folder({flat, "--dry-run", "--set", "defaults.train.steps=60"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("T = 60"));
  ASSERT_EQ(in_folder({flat, "--dry-run", "--set", "train.steps=6"}), 0) << err();
  EXPECT_THAT(err(), HasSubstr("warning: --set train.steps=6: the spec is the same without it."));
  expect_refused({spec_, "--dry-run", "--set", "defaults.train.steps=60"},
                 {"--set defaults.train.steps=60 changes nothing, for this wins over it: " + spec_ +
                  ":10: panels[0].train.steps"});
}

TEST_F(RunChanged, AFolderThatNoFileCanNameIsRefused) {
  expect_refused({spec_, "--dry-run", "--out", path("caf\xE9")}, {"--out: the folder's name is not UTF-8"});
  expect_refused({spec_, "--dry-run", "--out", path(std::string(300, 'a'))},
                 {"--out: a folder's name has 300 bytes, and it may have 255."});
  expect_refused({spec_, "--dry-run", "--set", "name=" + std::string(300, 'a')},
                 {"name has 300 characters, and a name may have 100"});
  EXPECT_EQ(in_folder({spec_, "--dry-run", "--out", path("caf\xC3\xA9")}), 2) << "--out twice";
  EXPECT_EQ(run({spec_, "--dry-run", "--out", path("caf\xC3\xA9")}), 0) << err();
}

// Wrong setups are bad input, also where nothing is to be trained.
TEST_F(RunChanged, ADryRunOfAWrongSetupIsRefused) {
  expect_refused({spec_, "--dry-run", "--set", "panels.small.model={name: mlp, weights: no-such-folder}"},
                 {"no-such-folder"});
  expect_refused({spec_, "--dry-run", "--set", "noise_seed=false"}, {"leave 'noise_seed' out"});
  expect_refused({spec_, "--dry-run", "--set", "panels.small.epsilon=[3, 3.0000001]"}, {"would be headed 3"});
  expect_refused({spec_, "--dry-run", "--preset", "small"}, {"has no presets"});
  // What is found only after the plan was printed.
  EXPECT_EQ(in_folder({spec_, "--dry-run", "--set", "noise_seed=s", "--fresh"}), 2) << out();
  EXPECT_THAT(err(), HasSubstr("--fresh is for specs without `noise_seed`"));
  std::filesystem::create_directories(path("out"));
  std::ofstream(path("out/hyfreedp.sqlite")) << "no database";
  EXPECT_EQ(in_folder({spec_, "--dry-run"}), 2) << out();
  EXPECT_THAT(err(), HasSubstr("hyfreedp.sqlite"));
}

// What `run` would ask --replace for, a dry run tells.
TEST_F(RunChanged, ADryRunNamesTheRowsThatWouldLeave) {
  enter();
  const runner::OutFolder folder{path("out")};
  {
    const auto store = results::Store::open(folder.database(), results::Store::Mode::read_write).value();
    auto planned = runner::plan(runner::load_spec(spec_).value()).value();
    for (const auto& study : planned) {
      auto record = runner::StudyRun(study, "changed").outcome();
      record.state = results::StudyState::concluded;
      ASSERT_TRUE(store->put_study(record));
    }
  }
  ASSERT_EQ(in_folder({spec_, "--dry-run", "--set", "title=T"}), 0) << err();
  EXPECT_THAT(out(), AllOf(Not(HasSubstr("--replace")),
                           HasSubstr("4 of these 4 studies have their rows in " + folder.root + " already")));
  const std::vector<std::string> other = {spec_, "--dry-run", "--set", "panels.small.rows.prodigy.steps=9"};
  ASSERT_EQ(in_folder(other), 0) << err();
  EXPECT_THAT(
      out(),
      AllOf(HasSubstr("for which the run asks for --replace: small, prodigy (2 studies: trained anew)."),
            HasSubstr("2 of these 4 studies have their rows")));
}

class OlderDatabase : public runner::lost_files::LostFiles {
 protected:
  ~OlderDatabase() override { std::filesystem::remove(spec()); }
  std::string spec() const { return world.out().root + ".yaml"; }
  // What a command says of the folder.
  std::string read(std::vector<std::string> asked, int code) {
    asked.insert(asked.end(), {"--out", world.out().root});
    std::ostringstream out, err;
    EXPECT_EQ(dispatch(asked, out, err), code) << out.str() << err.str();
    return out.str() + err.str();
  }
  std::string said(const std::vector<std::string>& more, int code) {
    std::vector<std::string> asked = {"run", spec(), "--dry-run", "--cap-delta", "1e-5"};
    asked.insert(asked.end(), more.begin(), more.end());
    return read(std::move(asked), code);
  }
};

TEST_F(OlderDatabase, ADryRunReadsTheReleaseRecords) {
  namespace fs = std::filesystem;
  using runner::lost_files::fixed;
  run(fixed("1e-2", "a"));
  keep_database();
  run(fixed("2e-2", "b"));
  const auto spent = epsilon();
  put_database_back();
  lose_journals_and_keys();
  world.close_database();
  const auto database = read_file(world.out().database()).value();
  ASSERT_TRUE(write_file_atomically(spec(), fixed("3e-2", "c")));
  EXPECT_THAT(said({}, 0), HasSubstr("now epsilon " + results::epsilon_text(spent)));
  EXPECT_THAT(said({"--cap", fmt::format("{:.3f}", spent + 0.01)}, 2), HasSubstr("--cap"));
  EXPECT_EQ(read_file(world.out().database()).value(), database) << "a dry run writes nothing";
}

TEST_F(OlderDatabase, WhereNobodyCanTellWhoseRunsThereAreNothingIsRun) {
  namespace fs = std::filesystem;
  run(runner::lost_files::fixed("1e-2", "a"));
  keep_database();
  const auto search = runner::spec_of(
      "      - {id: searched, method: dpsgd, options: {tuning: composed, candidates: 6}}\n", "s");
  const auto record = world.out().release_record("s");
  runner::FakeExecutor none, searching;
  world.run(search, none, [] { return true; });
  fs::copy_file(record, record + ".before");
  world.run(search, searching, [&] { return searching.ended >= 3; });
  fs::rename(record + ".before", record);
  put_database_back();
  world.close_database();
  ASSERT_TRUE(write_file_atomically(spec(), runner::lost_files::fixed("3e-2", "c")));
  EXPECT_THAT(said({"--cap", "90"}, 0), HasSubstr("--cap 90 lets all of this start."));
  EXPECT_THAT(read({"odometer"}, 0), Not(HasSubstr("cannot be read")));
  fs::remove(world.out().draw_key("s"));
  EXPECT_THAT(said({}, 2), HasSubstr("cannot be told"));
  EXPECT_THAT(read({"odometer"}, 0), HasSubstr("cannot be read"));
  EXPECT_THAT(read({"merge", world.out().journals()}, 2), HasSubstr("cannot be told"));
  // No worker is started.
  EXPECT_THAT(read({"run", spec()}, 2), HasSubstr("cannot be told"));
  EXPECT_THAT(read({"run", spec(), "--fresh"}, 2), HasSubstr("cannot be told"));
}

class TableChanged : public Changed {
 protected:
  TableChanged() : Changed("table") {}
};

// What is shown is the database's, so that the file is not taken for it.
TEST_F(TableChanged, AnotherVersionIsSaid) {
  enter();
  ASSERT_EQ(in_folder({spec_}), 0) << err();
  EXPECT_EQ(err(), "");
  ASSERT_EQ(in_folder({spec_, "--set", "panels.small.train.steps=60"}), 0) << err();
  EXPECT_THAT(err(),
              AllOf(StartsWith("hyfreedp table: warning: "),
                    HasSubstr("is not the version of 'changed' that the database has, which is shown. What "
                              "differs (there -> here): steps 6 -> 60")));
  ASSERT_EQ(in_folder({spec_, "--set", "panels.small.train.device=cuda"}), 0) << err();
  EXPECT_EQ(err(), "") << "a run may be told another device";
  expect_refused({"changed", "--set", "title=T", "--out", path("out")},
                 {"--set is of a spec's file; name the file."});
}

class DiffChanged : public Changed {
 protected:
  DiffChanged() : Changed("diff") {}
};

TEST_F(DiffChanged, FilesAndNamesAreCompared) {
  enter();
  ASSERT_EQ(in_folder({"changed", spec_}), 0) << err();
  EXPECT_EQ(out(),
            "The specs are the same.\n4 of 4 runs that B begins with are A's, too; 4 of 4 studies are the "
            "same.\n");
  ASSERT_EQ(in_folder({spec_, "--set", "title=T", "--set", "panels.small.rows.prodigy.steps=9"}), 0) << err();
  EXPECT_EQ(out(),
            "shown    title As written -> T\n"
            "trained  panels.small.rows.prodigy.steps 6 -> 9\n"
            "2 of 4 runs that B begins with are A's, too; 2 of 4 studies are the same.\n");
  ASSERT_EQ(run({spec_, spec_, "--set", "title=T"}), 0) << err();
  EXPECT_THAT(out(), StartsWith("shown    title As written -> T\n"));
}

TEST_F(DiffChanged, PresetsOfBoth) {
  const auto two = file("two.yaml", std::string(kSpec) + "presets:\n  a: {title: A}\n  b: {title: B}\n");
  ASSERT_EQ(run({two, two, "--preset", "a", "--preset", "b"}), 0) << err();
  EXPECT_THAT(out(), AllOf(HasSubstr("title A -> B"), HasSubstr("preset a -> b"),
                           HasSubstr("name changed-a -> changed-b")));
  ASSERT_EQ(run({two, two, "--preset", "b"}), 0) << err();
  EXPECT_THAT(out(), StartsWith("The specs are the same."));
}

TEST_F(DiffChanged, Refusals) {
  enter();
  expect_refused({}, {"name two specs, or a file"});
  expect_refused({"changed"}, {"name what to compare 'changed' with"});
  expect_refused({"chnged", spec_, "--out", path("out")}, {"has no spec 'chnged'. Did you mean 'changed'?"});
  expect_refused({spec_, "changed", "--set", "title=T", "--out", path("out")}, {"--set is of B, a file"});
  expect_refused({spec_, spec_, "--set", "titel=T"}, {"--set titel: unknown key 'titel'"});
}

}  // namespace changed_spec_test
}  // namespace hyfreedp::cli
