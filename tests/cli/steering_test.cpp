// `cancel`, `retry`, `note`, `tag` and `list runs` on a folder in which nobody works.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sstream>

#include "harness/base/split.h"
#include "results/store/states.h"
#include "results/table/table_model.h"
#include "tests/cli/folder_world.h"

namespace hyfreedp::cli {
namespace steering_test {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Answered {
  int code = 0;
  std::string out, err;
};

class Steering : public FolderTest {
 protected:
  Steering() : FolderTest("cancel") {}

  Answered say(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--out", path("out")});
    std::ostringstream out, err;
    const int code = dispatch(arguments, out, err);
    return {code, out.str(), err.str()};
  }
  json::array listed(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"list", "runs"});
    arguments.insert(arguments.end(), {"--format", "jsonl"});
    const auto said = say(std::move(arguments));
    EXPECT_EQ(said.code, 0) << said.err;
    json::array all;
    for (const auto& line : split(said.out, '\n')) {
      if (!line.empty()) all.push_back(parse_json(line, "a line").value());
    }
    return all;
  }
  static std::string text(const json::value& line, const char* key) {
    return std::string(line.at(key).as_string());
  }
};

TEST_F(Steering, CancelledAndOpenAgain) {
  fill_killed("out", spec_of(kProdigyRow + kFixedRow, "hidden", "s"));
  const auto cancelled = say({"cancel", "hidden", "--only", "row=prodigy"});
  EXPECT_EQ(cancelled.code, 0) << cancelled.err;
  EXPECT_EQ(cancelled.out, "cancelled: small, prodigy, ε 3, seed 0\n1 study of 'hidden' cancelled.\n");
  EXPECT_THAT(say({"status"}).out, HasSubstr("2 failed (1 cancelled, 1 killed)"));
  EXPECT_THAT(say({"table", "hidden"}).out, HasSubstr("cancelled"));
  const auto again = say({"cancel", "hidden", "--only", "row=prodigy"});
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.out, HasSubstr("cancelled before"));
  // A cancelled one has no value that an archive could freeze, or a night compare.
  EXPECT_THAT(say({"archive", "hidden", "--name", "x", "--to", path("archive")}).code, 2);

  const auto opened = say({"retry", "hidden"});
  EXPECT_EQ(opened.code, 0) << opened.err;
  EXPECT_THAT(opened.out, HasSubstr("open again: small, prodigy, ε 3, seed 0\n"));
  EXPECT_THAT(opened.out, HasSubstr("2 studies of 'hidden' open again"));
  EXPECT_THAT(say({"status"}).out, HasSubstr("2 open, 0 failed"));
  fill("out", spec_of(kProdigyRow + kFixedRow, "hidden", "s"));
  EXPECT_THAT(say({"status"}).out, HasSubstr("2 concluded"));
}

// An older database has all rows as cancelled; the journal tells of a later attempt. The command
// prices them anew, although it has nothing to cancel.
TEST_F(Steering, WhatWasCancelledBeforeIsPricedByWhatFollowed) {
  const auto yaml = spec_of(kFixedRow);
  const auto database = folder("out").database();
  const auto price = [&] { return store("out")->studies("hidden").value().at(0).total->epsilon; };
  fill_killed("out", yaml);
  ASSERT_EQ(say({"cancel", "hidden"}).code, 0);
  const auto once = price();
  std::filesystem::copy_file(database, path("older"));
  ASSERT_EQ(say({"retry", "hidden"}).code, 0);
  for (const auto& key : std::filesystem::directory_iterator(folder("out").keys())) {
    std::filesystem::remove(key.path());
  }
  fill_killed("out", yaml);
  std::filesystem::copy_file(path("older"), database, std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(price(), once);
  EXPECT_THAT(say({"cancel", "hidden"}).out, HasSubstr("cancelled before"));
  EXPECT_GT(price(), once + 0.1);
}

TEST_F(Steering, WhatHasItsAnswerIsRefused) {
  runner::FakeExecutor executor;
  executor.fate = [](const auto& config) {
    return config.optimizer.name == "prodigy" ? runner::Fate::finish : runner::Fate::diverge;
  };
  fill("out", spec_of(kProdigyRow + kFixedRow), executor);
  const auto cancelled = say({"cancel", "hidden"});
  EXPECT_EQ(cancelled.code, 2);
  EXPECT_THAT(cancelled.err, HasSubstr("2 studies of 'hidden': none is open."));
  const auto retried = say({"retry", "hidden"});
  EXPECT_EQ(retried.code, 2);
  EXPECT_THAT(retried.err, AllOf(HasSubstr("not small, fixed, ε 3, seed 0: diverged is its answer"),
                                 HasSubstr("--fresh"), HasSubstr("none can be tried again")));
  for (const char* command : {"cancel", "retry", "note", "tag"}) {
    std::vector<std::string> arguments{command, "hiden"};
    if (std::string(command) == "note") arguments.emplace_back("text");
    if (std::string(command) == "tag") arguments.insert(arguments.end(), {"--add", "t"});
    const auto unknown = say(arguments);
    EXPECT_EQ(unknown.code, 2) << command;
    EXPECT_THAT(unknown.err, HasSubstr("Did you mean 'hidden'?")) << command;
    arguments[1] = "hidden";
    arguments.insert(arguments.end(), {"--only", "row=prodgy"});
    const auto wrong = say(arguments);
    EXPECT_EQ(wrong.code, 2) << command;
    EXPECT_THAT(wrong.err, HasSubstr("Did you mean 'prodigy'?")) << command;
  }
}

TEST_F(Steering, NotesAndTagsAreFoundAgain) {
  fill("out", spec_of(kProdigyRow + kFixedRow));
  EXPECT_EQ(say({"tag", "hidden", "--add", "good", "--add", "draft"}).code, 0);
  EXPECT_EQ(say({"tag", "hidden", "--remove", "draft", "--only", "row=prodigy"}).out,
            "1 study of 'hidden' tagged.\n");
  EXPECT_EQ(say({"note", "hidden", "before the new grid", "--only", "row=fixed"}).code, 0);
  EXPECT_EQ(listed({"--tag", "good"}).size(), 2U);
  const auto draft = listed({"hidden", "--tag", "draft"});
  ASSERT_EQ(draft.size(), 1U);
  EXPECT_EQ(text(draft.at(0), "row"), "fixed");
  EXPECT_EQ(text(draft.at(0), "note"), "before the new grid");
  EXPECT_THAT(say({"list", "runs"}).out,
              AllOf(HasSubstr("  draft good\n"), HasSubstr("seed 0: before the new grid\n")));
  EXPECT_THAT(say({"trace", "hidden", "fixed", "3"}).out,
              AllOf(HasSubstr("before the new grid"), HasSubstr("draft good")));
  EXPECT_EQ(say({"note", "hidden", "", "--only", "row=fixed"}).code, 0);
  EXPECT_THAT(say({"list", "runs"}).out, Not(HasSubstr("before the new grid")));
  // They stay when a study's row is written again, and go with a new release.
  fill("out", spec_of(kProdigyRow + kFixedRow));
  EXPECT_EQ(listed({"--tag", "good"}).size(), 2U);

  EXPECT_EQ(say({"tag", "hidden", "--add", "a b"}).code, 2);
  EXPECT_EQ(say({"tag", "hidden"}).code, 2);
  EXPECT_EQ(say({"note", "hidden"}).code, 2);
  EXPECT_EQ(say({"note", "hidden", "two\nlines"}).code, 2);
}

TEST_F(Steering, NotesStayUnderAnotherSpecAndGoWithANewRelease) {
  const auto enter = [&](const std::string& rows, bool fresh, bool replace) {
    auto spec = runner::load_spec(file("spec.yaml", spec_of(rows))).value();
    const auto opened = store("out");
    ASSERT_TRUE(runner::enter_spec(*opened, folder("out"), spec, fresh, replace));
    runner::FakeExecutor executor;
    std::ostream silent(nullptr);
    runner::Progress progress(silent, runner::Progress::Style::none);
    ASSERT_TRUE(
        runner::Coordinator(*opened, executor, folder("out"), progress).run(spec, [] { return false; }));
  };
  enter(kProdigyRow, false, false);
  EXPECT_EQ(say({"note", "hidden", "kept"}).code, 0);
  EXPECT_EQ(say({"tag", "hidden", "--add", "good"}).code, 0);
  enter(kProdigyRow + kFixedRow, false, true);
  ASSERT_EQ(listed({"hidden"}).size(), 2U);
  const auto tagged = listed({"hidden", "--tag", "good"});
  ASSERT_EQ(tagged.size(), 1U) << "the new row's study has none";
  EXPECT_EQ(text(tagged.at(0), "note"), "kept");
  enter(kProdigyRow + kFixedRow, true, false);
  ASSERT_EQ(listed({"hidden"}).size(), 2U);
  EXPECT_TRUE(listed({"hidden", "--tag", "good"}).empty());
}

TEST_F(Steering, RunsAreListedWithWhatMayBeShown) {
  fill("out", spec_of(kSelectionRow + kProdigyRow));
  const auto runs = listed({});
  ASSERT_EQ(runs.size(), 2U) << "of a selection the reported run alone";
  for (const auto& run : runs) {
    EXPECT_EQ(text(run, "state"), "concluded");
    EXPECT_TRUE(run.at("reported").as_bool());
    EXPECT_EQ(run.at("steps_done"), run.at("steps"));
    EXPECT_FALSE(run.at("test_accuracy_percent").is_null());
  }
  EXPECT_EQ(listed({"hidden", "--only", "row=prodigy"}).size(), 1U);
  const auto shown = say({"list", "runs", "hidden"}).out;
  EXPECT_THAT(shown, AllOf(HasSubstr("6/6"), HasSubstr(text(runs.at(1), "run").substr(0, 8) + "*")));

  fill_killed("other", spec_of(kSelectionRow + kProdigyRow));
  std::ostringstream out, err;
  ASSERT_EQ(dispatch({"list", "runs", "--state", "killed", "--out", path("other")}, out, err), 0)
      << err.str();
  EXPECT_THAT(out.str(), AllOf(HasSubstr("failed: killed"), HasSubstr("2/6")));
  EXPECT_EQ(lines_in(out.str()), 4) << "a heading, the selection without runs, the run, the legend";
  EXPECT_EQ(say({"list", "runs", "--state", "killed"}).code, 2);
  EXPECT_EQ(say({"list", "runs", "--format", "xml"}).code, 2);
  EXPECT_EQ(say({"list", "methods", "--tag", "good"}).code, 2);
}

}  // namespace steering_test
}  // namespace hyfreedp::cli
