// What the commands say of a spec whose seeds a comparison decides: the seeds that it did not need
// are no results, no failures and nothing that waits.
#include <SQLiteCpp/SQLiteCpp.h>
#include <filesystem>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "harness/base/text.h"
#include "plots/gnuplot.h"
#include "results/store/states.h"
#include "tests/cli/folder_world.h"

namespace hyfreedp::cli {
namespace sequential_seeds_test {

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

TEST_F(SequentialSeedsOf, ListRunsChoosesThemByTheirState) {
  const auto count = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"list", "runs", "seq", "--format", "jsonl"});
    return lines_in(said(arguments));
  };
  said({"tag", "seq", "--add", "kept", "--add", "kept", "--remove", "absent", "--only", "row=a"});
  said({"tag", "seq", "--add", "kept", "--only", "row=a"});
  EXPECT_EQ(count({}), 24);
  EXPECT_EQ(count({"--state", "not-needed"}), 16);
  EXPECT_EQ(count({"--state", "not-needed", "--only", "row=a"}), 8);
  EXPECT_EQ(count({"--state", "concluded", "--tag", "kept"}), 4);
  EXPECT_EQ(count({"--tag", "kept"}), 12);
  EXPECT_EQ(count({"--state", "failed"}), 0) << "they are no failures";
  const auto lines = said({"list", "runs", "seq", "--tag", "kept", "--format", "jsonl"});
  const auto one = parse_json(lines.substr(0, lines.find('\n')), "a line").value();
  EXPECT_EQ(one.at("tags"), (json::array{"kept"})) << "once";
  EXPECT_EQ(one.at("epsilon_target"), 3.0);
  EXPECT_EQ(one.at("state"), "concluded");
  EXPECT_EQ(one.at("failure_kind"), "");
  const auto rest = said({"list", "runs", "seq", "--state", "not-needed", "--format", "jsonl"});
  const auto other = parse_json(rest.substr(0, rest.find('\n')), "a line").value();
  EXPECT_EQ(other.at("failure_kind"), "not-needed");
  EXPECT_TRUE(other.at("run").is_null());
  EXPECT_THAT(said({"list", "runs", "seq"}), AllOf(HasSubstr("not-needed"), Not(HasSubstr("failed"))));
}

// As whoever forges an archive would, with new checksums.
void change_archive(const std::string& folder, const std::string& sql) {
  const auto slice = folder + "/slice.sqlite";
  ::chmod(slice.c_str(), 0600);
  {
    SQLite::Database database(slice, SQLite::OPEN_READWRITE);
    ASSERT_GT(database.exec(sql), 0) << sql;
  }
  std::string sums;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto name = entry.path().filename().string();
    if (name != "SHA256SUMS") sums += sha256_hex(read_file(entry.path()).value()) + "  " + name + "\n";
  }
  std::filesystem::remove(folder + "/SHA256SUMS");
  ASSERT_TRUE(write_file_atomically(folder + "/SHA256SUMS", sums));
}

TEST_F(SequentialSeedsOf, AnArchiveRebuildsTheTableAndFindsChangedSeeds) {
  if (!find_program("gnuplot")) GTEST_SKIP() << plots::kNoGnuplot;
  said({"archive", "seq", "--name", "first", "--to", path("archive")});
  const auto checked = [&](const std::string& folder) {
    std::ostringstream out, err;
    const int code = dispatch({"archive", "--check", folder}, out, err);
    return std::pair(code, out.str() + err.str());
  };
  const auto honest = path("archive/first");
  const auto [code, text] = checked(honest);
  EXPECT_EQ(code, 0) << text;
  EXPECT_THAT(text, AllOf(HasSubstr("every cell is finished"),
                          HasSubstr("table.md built from the slice is the same, byte for byte")));
  EXPECT_THAT(read_file(honest + "/table.md").value(),
              AllOf(HasSubstr("Seeds: from 3 to 12, until the paired interval of a - b excludes 0"),
                    HasSubstr("stopped after 4 of 12 seeds (2 looks)")));
  const auto is_not_needed = std::string("failure_kind = 'not-needed'");
  const std::vector<std::string> changes = {
      "DELETE FROM studies WHERE row = 'a' AND seed = 2",
      "DELETE FROM studies WHERE row = 'a' AND seed = 7",
      "DELETE FROM studies WHERE " + is_not_needed,
      "UPDATE studies SET failure_kind = 'diverged' WHERE row = 'a' AND seed = 7",
      "UPDATE studies SET failure_kind = 'killed' WHERE row = 'a' AND seed = 7",
      "UPDATE studies SET state = 'open', failure_kind = '' WHERE " + is_not_needed,
      "UPDATE studies SET state = 'failed', failure_kind = 'not-needed', reported_trial = '' "
      "WHERE row = 'a' AND seed = 3",
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto folder = path("archive/" + std::to_string(i));
    std::filesystem::copy(honest, folder);
    change_archive(folder, changes[i]);
    const auto [refused, why] = checked(folder);
    EXPECT_EQ(refused, 1) << changes[i] << "\n" << why;
    EXPECT_THAT(why, AllOf(HasSubstr("DIFFERENT"), Not(HasSubstr("checksum differs")))) << changes[i];
  }
}

}  // namespace sequential_seeds_test
}  // namespace hyfreedp::cli
