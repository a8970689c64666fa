// The log of a run: every line says what its reader needs, and nothing that depends on how many
// runs a private selection makes.
#include "harness/runner/progress/run_log.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <set>
#include <sstream>

#include "harness/base/files.h"
#include "tests/runner/fake_world.h"

namespace hyfreedp::runner {
namespace run_log_test {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kSelection =
    "  - {id: hidden, method: dp-hyper, options: {grid: [1e-3, 1e-2], mean_runs: 4, score_noise: 300}}\n";
const std::string kOpen = "  - {id: open, method: fixed-rate, options: {lr: 5e-2}}\n";

std::string spec_of(const std::string& rows, const std::string& noise_seed = "") {
  return fmt::format(
      "name: logged\ntitle: t\n{}defaults:\n"
      "  dataset: {{name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}}\n"
      "  seeds: [0]\n  epsilon: [3]\n  delta: 1e-5\n"
      "  train: {{sample_rate: 0.1, steps: 6, optimizer: adamw}}\n  evaluate: {{every: 0}}\n"
      "panels:\n  - {{id: small, model: linear}}\nrows:\n{}",
      noise_seed.empty() ? "" : "noise_seed: " + noise_seed + "\n", rows);
}

class Logged : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = ScratchFolder::make();
    ASSERT_TRUE(made);
    folder_.emplace(std::move(*made));
  }
  std::string log() const { return folder_->path() + "/log.jsonl"; }

  void run(const std::string& yaml, FakeExecutor& executor) {
    const OutFolder out{folder_->path() + "/out"};
    std::filesystem::remove_all(out.root);
    std::filesystem::create_directories(out.root);
    const auto store = results::Store::in_memory().value();
    const auto path = folder_->path() + "/spec.yaml";
    write_file_atomically(path, yaml).value();
    auto spec = load_spec(path).value();
    enter_spec(*store, out, spec, false, false).value();
    std::ostream silent(nullptr);
    Progress progress(silent, Progress::Style::none);
    Coordinator coordinator(*store, executor, out, progress);
    const auto log = RunLog::open(this->log()).value();
    log->begin({{"spec", spec.content.name}});
    coordinator.tell(*log);
    ASSERT_TRUE(coordinator.run(spec, [] { return false; }));
    log->end(0, "over");
    EXPECT_EQ(log->problem(), "");
  }

  std::vector<json::object> lines() const {
    std::vector<json::object> all;
    std::istringstream text(read_file(log()).value());
    for (std::string line; std::getline(text, line);)
      all.push_back(parse_json(line, "log").value().as_object());
    return all;
  }
  std::vector<std::string> events() const {
    std::vector<std::string> all;
    for (const auto& line : lines()) {
      all.push_back(string_or(line, "event", ""));
      const auto row = string_or(line, "row", "");
      if (!row.empty()) all.back() += " " + row;
    }
    return all;
  }

  std::optional<ScratchFolder> folder_;
};

TEST_F(Logged, SaysWhatHappened) {
  FakeExecutor executor;
  run(spec_of(kOpen, "s"), executor);
  EXPECT_THAT(events(), ::testing::ElementsAre("run-begun", "phase", "study-begun open", "phase", "phase",
                                               "trial-begun", "trial-over", "study-over open", "run-over"));
  for (const auto& line : lines()) {
    EXPECT_THAT(string_or(line, "time", ""),
                ::testing::MatchesRegex("20..-..-..T..:..:..\\....Z"));  // UTC, milliseconds
    if (string_or(line, "event", "") == "trial-over") {
      EXPECT_EQ(string_or(line, "state", ""), "finished");
      EXPECT_TRUE(line.contains("seconds"));
    }
    if (string_or(line, "event", "") != "study-over") continue;
    EXPECT_EQ(string_or(line, "state", ""), "concluded");
    EXPECT_NEAR(double_or(line, "epsilon", 0), 3, 0.05);
    EXPECT_EQ(double_or(line, "delta", 0), 1e-5);
    EXPECT_TRUE(line.at("test").as_object().contains("accuracy"));
  }
}

TEST_F(Logged, AppendsAndSaysHowARunFailed) {
  ASSERT_TRUE(std::ofstream(log()) << "{\"event\":\"earlier\"}\n");
  FakeExecutor executor;
  executor.fate = [](const auto&) { return Fate::kill; };
  run(spec_of(kOpen, "s"), executor);
  EXPECT_EQ(events().front(), "earlier");
  for (const auto& line : lines()) {
    const auto event = string_or(line, "event", "");
    if (event != "trial-over" && event != "study-over") continue;
    EXPECT_EQ(string_or(line, "state", ""), "failed");
    EXPECT_EQ(string_or(line, "failure", ""), "killed");
  }
}

// As many entropy draws as give different numbers of runs (that all of 12 geometric draws agree has
// probability below 1e-6): the log is the same but for the values that the rows release.
TEST_F(Logged, DoesNotTellHowManyRunsASelectionMade) {
  std::set<std::size_t> counts;
  std::set<std::vector<std::string>> told;
  for (int i = 0; i < 12; ++i) {
    std::filesystem::remove(log());
    FakeExecutor executor;
    executor.at_end = [&](const auto&) {
      EXPECT_THAT(read_file(log()).value(),
                  ::testing::Not(::testing::AnyOf(HasSubstr("study-"), HasSubstr("trial-"))))
          << "the order of lines is a clock";
    };
    run(spec_of(kSelection + kOpen), executor);
    counts.insert(executor.ended);
    told.insert(events());
    const auto text = read_file(log()).value();
    EXPECT_EQ(std::ranges::count_if(executor.submitted,
                                    [&](const auto& id) { return text.find(id) != std::string::npos; }),
              1)
        << "of the open row alone";
    std::size_t timed = 0;
    for (const auto& line : lines()) {
      timed += line.contains("time") ? 1U : 0U;
      EXPECT_FALSE(line.contains("seconds"));
    }
    EXPECT_EQ(timed, 1U) << "the time at which a line comes tells how long a selection took";
    EXPECT_EQ(string_or(lines().front(), "event", ""), "run-begun");
  }
  EXPECT_GT(counts.size(), 1U);
  EXPECT_EQ(told.size(), 1U);
}

TEST_F(Logged, AnEarlierFileOfAWiderModeBecomesTheOwners) {
  write_file_atomically(log(), "earlier\n", 0644).value();
  ASSERT_TRUE(RunLog::open(log()));
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(log()).permissions(), perms::owner_read | perms::owner_write);
  EXPECT_EQ(read_file(log()).value(), "earlier\n");
}

TEST_F(Logged, AFileThatCannotBeOpenedIsAnError) {
  const auto opened = RunLog::open(folder_->path());
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("cannot open the log"));
}

TEST_F(Logged, ALineThatIsLostIsSaid) {
  const auto log = RunLog::open("/dev/full").value();
  log->begin({});
  EXPECT_THAT(log->problem(), HasSubstr("/dev/full"));
}

}  // namespace run_log_test
}  // namespace hyfreedp::runner
