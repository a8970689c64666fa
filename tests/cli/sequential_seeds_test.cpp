// What the commands say of a spec whose seeds a comparison decides: the seeds that it did not need
// are no results, no failures and nothing that waits.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>

#include "harness/base/text.h"
#include "results/store/states.h"
#include "tests/cli/folder_world.h"

namespace hyfreedp::cli {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class SequentialSeedsOf : public FolderTest {
 protected:
  SequentialSeedsOf() : FolderTest("sequential") {}

  void SetUp() override {
    FolderTest::SetUp();
    auto text = spec_of(
        "  - {id: a, method: fixed-rate, options: {lr: 5e-2}}\n  - {id: b, method: fixed-rate, options: {lr: "
        "2e-2}}\n",
        "seq", "s");
    const std::string seeds = "seeds: [0]";
    text.replace(text.find(seeds), seeds.size(),
                 "seeds: {until: paired interval of a - b excludes 0, from: 3, to: 12}");
    spec_ = file("seq.yaml", text);
    runner::FakeExecutor executor;
    executor.test_accuracy = [](const trial::TrialConfig& config) {
      const bool is_a = double_or(config.controller.options, "lr", 0) == 5e-2;
      return is_a ? 0.7 + (config.seed % 2 == 0 ? 0.01 : 0) : 0.5;
    };
    fill("out", text, executor);
    ASSERT_EQ(executor.submitted.size(), 2u * 4);
  }

  // What the command printed; it must succeed.
  std::string said(std::vector<std::string> arguments) const {
    std::ostringstream out, err;
    arguments.insert(arguments.end(), {"--out", folder("out").root});
    EXPECT_EQ(dispatch(arguments, out, err), 0) << join(arguments, " ") << ": " << err.str();
    return out.str();
  }

  std::string spec_;
};

TEST_F(SequentialSeedsOf, CommandsCountThemByThemselves) {
  EXPECT_THAT(said({"status"}), HasSubstr("24 studies: 8 concluded, 0 open, 0 failed, 16 not needed"));
  EXPECT_THAT(said({"export", "values", "seq"}),
              AllOf(HasSubstr("seq,small,a,3,4,,not_needed,1"), Not(HasSubstr("failed"))));
  EXPECT_THAT(said({"export", "rows", "seq"}), HasSubstr("\"failure_kind\":\"not-needed\""));
  EXPECT_THAT(said({"trace", "seq", "a", "3"}), AllOf(HasSubstr("seed 3: "), Not(HasSubstr("seed 4: "))));
  EXPECT_THAT(said({"table", "seq"}), HasSubstr("stopped after 4 of 12"));
  EXPECT_THAT(said({"doctor"}), HasSubstr("Nothing is wrong"));
  EXPECT_THAT(said({"diff", spec_}), Not(HasSubstr("trained")));
}

TEST_F(SequentialSeedsOf, TheViewShowsThemAsWithoutAResult) {
  SQLite::Database database(folder("out").database(), SQLite::OPEN_READONLY);
  SQLite::Statement select(database,
                           "SELECT state, failure_kind, count(*), count(test_accuracy_percent), count(run), "
                           "count(epsilon_spent) FROM cells GROUP BY 1, 2 ORDER BY 1");
  std::vector<std::string> lines;
  while (select.executeStep()) {
    std::string line;
    for (int i = 0; i < 6; ++i) line += select.getColumn(i).getString() + "|";
    lines.push_back(line);
  }
  EXPECT_THAT(lines, ::testing::ElementsAre("concluded||8|8|8|8|", "failed|not-needed|16|0|0|0|"));
}

TEST_F(SequentialSeedsOf, ACellsFileHoldsTheSeedsThatWereTrained) {
  const auto cell = path("cell.json");
  said({"export-cell", "seq", "a", "3", "--output", cell});
  std::ostringstream out, err;
  EXPECT_EQ(dispatch({"verify", cell}, out, err), 0) << out.str();
  EXPECT_THAT(out.str(), HasSubstr("seeds, the first that the row may train: 0, 1, 2, 3"));
  // Without the first one, they are none of the first.
  auto text = read_file(cell).value();
  auto changed = parse_json(text, "cell").value().as_object();
  auto& seeds = changed.at("seeds").as_array();
  seeds.erase(seeds.begin());
  out.str("");
  EXPECT_EQ(dispatch({"verify", file("changed.json", canonical_json(changed))}, out, err), 1);
  EXPECT_THAT(out.str(), ContainsRegex("DIFFERENT +seeds, "));
}

TEST_F(SequentialSeedsOf, OneThatWasNotNeededHasNoEpsilonOfItsOwn) {
  std::string id;
  const auto opened = store("out");
  for (const auto& study : opened->studies("seq").value()) {
    if (results::is_not_needed(study)) id = study.id;
  }
  std::ostringstream out, err;
  EXPECT_EQ(dispatch({"epsilon", "--out", folder("out").root, "--study", id}, out, err), 2);
  EXPECT_THAT(err.str(), HasSubstr("was not needed, so it has no epsilon of its own"));
}

TEST_F(SequentialSeedsOf, ADryRunSaysTheLeastAndTheMost) {
  std::ostringstream out, err;
  EXPECT_EQ(dispatch({"run", spec_, "--dry-run", "--out", path("none")}, out, err), 0) << err.str();
  EXPECT_THAT(out.str(),
              AllOf(ContainsRegex("a +3 +3 to 12 seeds +3 to 12 first trials"),
                    HasSubstr("at least 6 of these trials"), HasSubstr("24 trials to start with")));
}

}  // namespace
}  // namespace hyfreedp::cli
