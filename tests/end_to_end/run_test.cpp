// The whole path through the real binaries: a spec becomes rows, tables, plots and a report.
#include <cstdio>
#include <fmt/format.h>
#include <sys/resource.h>

#include "harness/base/text.h"
#include "harness/cli/commands.h"
#include "tests/end_to_end/program.h"

namespace hyfreedp::end_to_end {
namespace run_test {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class Run : public Program {
 protected:
  // Cells of the smoke spec, one row of the database each.
  std::string smoke_studies() {
    std::istringstream lines(rows("smoke"));
    std::string line;
    std::size_t count = 0;
    while (std::getline(lines, line)) count += line.find("\"epsilon_target\"") != std::string::npos ? 1U : 0U;
    EXPECT_GE(count, 45U);
    return std::to_string(count);
  }
};

TEST_F(Run, SmokeGivesAllFilesAndASecondRunDoesNothing) {
  const auto first = run({"run", kSmoke});
  ASSERT_EQ(first.code, 0) << first.out << first.err;
  for (const char* file : {"table.md", "table.csv", "report.html"}) {
    EXPECT_GT(fs::file_size(folder_ / "out/smoke" / file), 500U) << file;
  }
  EXPECT_THAT(first.out, HasSubstr("HyFreeDP+ (ours)"));
  EXPECT_THAT(first.out, HasSubstr("ε 3.00"));
  EXPECT_THAT(first.err, Not(HasSubstr("\x1b"))) << "control characters where there is no terminal";
  EXPECT_TRUE(fs::is_empty(folder_ / "out/keys")) << "runs that are over need no key";
  const auto before = rows("smoke");
  const auto bytes = journal_bytes();

  const auto second = run({"run", kSmoke});
  EXPECT_EQ(second.code, 0) << second.err;
  const auto studies = smoke_studies();
  EXPECT_THAT(second.out, ContainsRegex(studies + " studies of [0-9]+ cells, " + studies + " known before"));
  EXPECT_EQ(journal_bytes(), bytes);
  EXPECT_EQ(rows("smoke"), before);
}

TEST_F(Run, RowsAreTheSameBitForBitWhateverTheWorkers) {
  draw_no_pictures();
  ASSERT_EQ(run({"run", kSmoke, "--out", "one", "--workers", "1", "--quiet"}).code, 0);
  ASSERT_EQ(run({"run", kSmoke, "--out", "three", "--workers", "3", "--quiet"}).code, 0);
  EXPECT_EQ(rows("smoke", "one"), rows("smoke", "three"));
}

// A cell by itself, then the rest: the rows of one run.
TEST_F(Run, APartAndThenTheRestIsTheWhole) {
  draw_no_pictures();
  ASSERT_EQ(run({"run", kSmoke, "--out", "whole", "--quiet"}).code, 0);
  const auto part = run({"run", kSmoke, "--only", "row=prodigy,epsilon=3", "--quiet"});
  ASSERT_EQ(part.code, 0) << part.err;
  EXPECT_THAT(part.out, HasSubstr("Left out by --only: "));
  EXPECT_THAT(part.out, HasSubstr("of them open; without it the command trains these too."));
  EXPECT_THAT(part.out, HasSubstr("open"));
  EXPECT_THAT(run({"status"}).out,
              ContainsRegex("smoke  [0-9]+ studies: [1-9][0-9]* concluded, [1-9][0-9]* open"));
  ASSERT_EQ(run({"run", kSmoke, "--quiet"}).code, 0);
  EXPECT_EQ(rows("smoke"), rows("smoke", "whole"));
}

TEST_F(Run, JournalsRebuildTheDatabase) {
  draw_no_pictures();
  ASSERT_EQ(run({"run", kSmoke}).code, 0);
  const auto before = rows("smoke");
  const auto bytes = journal_bytes();
  for (const char* suffix : {"", "-wal", "-shm"})
    fs::remove(folder_ / ("out/hyfreedp.sqlite" + std::string(suffix)));
  ASSERT_EQ(run({"run", kSmoke}).code, 0);
  EXPECT_EQ(journal_bytes(), bytes);
  EXPECT_EQ(rows("smoke"), before);
}

TEST_F(Run, EpsilonOfEveryRowFollowsFromItsEvents) {
  draw_no_pictures();
  ASSERT_EQ(run({"run", kSmoke, "--quiet"}).code, 0);
  std::istringstream lines(rows("smoke"));
  std::string line;
  std::size_t priced = 0;
  while (std::getline(lines, line)) {
    const auto row = parse_json(line, "rows").value().as_object();
    if (!row.contains("epsilon_target") || row.at("epsilon_target").is_null()) continue;
    const auto id = string_or(row, "id", "");
    const auto ended = run({"epsilon", "--db", "out/hyfreedp.sqlite", "--study", id});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("the same")) << id;
    ++priced;
  }
  EXPECT_GT(priced, 20U);
}

constexpr const char* kUnseeded = R"(
name: unseeded
title: two rows with keys from the system
panels:
  - id: small
    dataset: {name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}
    model: linear
    seeds: [0]
    epsilon: [3]
    delta: N^-1.1
    train: {sample_rate: 0.1, steps: 6, optimizer: adamw}
    evaluate: {every: 3}
    rows: [{method: prodigy}, {method: fixed-rate, options: {lr: 1e-2}}]
)";

TEST_F(Run, AnUnseededSpecIsReleasedOnceUnlessFresh) {
  draw_no_pictures();
  const auto spec = write("unseeded.yaml", kUnseeded);
  ASSERT_EQ(run({"run", spec}).code, 0);
  EXPECT_TRUE(fs::is_empty(folder_ / "out/keys")) << "a key outlived its run";
  const auto before = rows("unseeded");
  EXPECT_THAT(before, Not(HasSubstr("reproducible noise")));
  const auto again = run({"run", spec});
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.out, HasSubstr("--fresh"));
  EXPECT_EQ(rows("unseeded"), before);
  ASSERT_EQ(run({"run", spec, "--fresh"}).code, 0);
  const auto fresh = rows("unseeded");
  EXPECT_NE(fresh, before);
  EXPECT_THAT(fresh, HasSubstr("Release 2"));
  EXPECT_TRUE(fs::is_empty(folder_ / "out/keys"));
}

TEST_F(Run, DryRunTrainsNothing) {
  const auto ended = run({"run", kSmoke, "--dry-run"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("linear"));
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

TEST_F(Run, StatusTellsWhatIsThere) {
  draw_no_pictures();
  ASSERT_EQ(run({"run", kSmoke, "--quiet"}).code, 0);
  const auto ended = run({"status"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto studies = smoke_studies();
  EXPECT_THAT(ended.out,
              HasSubstr(fmt::format("smoke  {} studies: {} concluded, 0 open, 0 failed", studies, studies)));
  EXPECT_THAT(ended.out, Not(HasSubstr("Interrupted")));
}

class Commands : public Program {};

TEST_F(Commands, EveryOneHasHelpWithAnExampleThatFits) {
  for (const auto& command : cli::commands()) {
    const auto ended = run({command.name, "--help"});
    EXPECT_EQ(ended.code, 0) << command.name;
    EXPECT_EQ(ended.err, "") << command.name;
    EXPECT_THAT(ended.out, HasSubstr("hyfreedp " + command.name)) << command.name;
    // The overview's example uses options that exist.
    std::istringstream words(command.example);
    std::string word;
    while (words >> word) {
      if (!word.starts_with("--")) continue;
      EXPECT_THAT(ended.out, HasSubstr(word)) << command.example;
    }
  }
}

TEST_F(Commands, OverviewVersionAndNearestName) {
  for (const auto& arguments : {std::vector<std::string>{}, {"--help"}, {"help"}}) {
    const auto ended = run(arguments);
    EXPECT_EQ(ended.code, 0);
    for (const auto& command : cli::commands()) EXPECT_THAT(ended.out, HasSubstr(command.example));
  }
  const auto version = run({"--version"});
  EXPECT_EQ(version.code, 0);
  // The build asks git, which a machine may lack.
  const bool known = std::system("git -C '" HYFREEDP_SOURCE_DIR "' describe --always > /dev/null 2>&1") == 0;
  EXPECT_EQ(version.out.find("commit ") != std::string::npos, known) << version.out;
  const auto unknown = run({"tabel"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("Did you mean 'table'?"));
}

double seconds_of_children() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

TEST_F(Commands, TheProgramLoadsNoLibTorchAndStartsAtOnce) {
  std::string libraries;
  FILE* lines = ::popen(("LD_TRACE_LOADED_OBJECTS=1 '" + kProgram + "'").c_str(), "r");
  ASSERT_NE(lines, nullptr);
  for (int byte = std::fgetc(lines); byte != EOF; byte = std::fgetc(lines))
    libraries += static_cast<char>(byte);
  ::pclose(lines);
  EXPECT_THAT(libraries, HasSubstr("libc.so"));
  EXPECT_THAT(libraries, Not(HasSubstr("libtorch")));
  const double before = seconds_of_children();
  for (int i = 0; i < 10; ++i) run({"--version"});
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  // Of processor time, whatever else the machine does: loading LibTorch would take hundreds of
  // milliseconds each.
  EXPECT_LT(seconds_of_children() - before, 1);
#endif
}

}  // namespace run_test
}  // namespace hyfreedp::end_to_end
