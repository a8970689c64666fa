// What an output folder tells of itself: nothing that depends on how many runs a private selection
// makes.
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <set>

#include "results/table/table_model.h"
#include "tests/cli/command_fixture.h"
#include "tests/runner/fake_world.h"

namespace hyfreedp::cli {
namespace status_command_test {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kSelection =
    "  - {method: dp-hyper, options: {grid: [1e-3, 1e-2], mean_runs: 6, score_noise: 300}}\n";
const std::string kOpen = "  - {method: prodigy}\n";

std::string spec_of(const std::string& rows, const std::string& noise_seed = "") {
  return fmt::format(
      "name: hidden\ntitle: t\n{}defaults:\n"
      "  dataset: {{name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}}\n"
      "  seeds: [0]\n  epsilon: [3]\n  delta: 1e-5\n"
      "  train: {{sample_rate: 0.1, steps: 6, optimizer: adamw}}\n  evaluate: {{every: 0}}\n"
      "panels:\n  - {{id: small, model: linear}}\nrows:\n{}",
      noise_seed.empty() ? "" : "noise_seed: " + noise_seed + "\n", rows);
}

class Status : public CommandTest {
 protected:
  Status() : CommandTest("status") {}

  // The spec's runs, `interrupted` of which stop on their way.
  std::set<std::string> fill(const std::string& text, std::size_t interrupted) {
    const runner::OutFolder folder{path("out")};
    fs::create_directories(folder.root);
    auto store = results::Store::open(folder.database(), results::Store::Mode::read_write).value();
    auto spec = runner::load_spec(file("hidden.yaml", text)).value();
    EXPECT_TRUE(runner::enter_spec(*store, folder, spec, false, false));
    std::ostream silent(nullptr);
    runner::Progress progress(silent, runner::Progress::Style::none);
    runner::FakeExecutor executor;
    std::set<std::string> stopped;
    executor.fate = [&](const trial::TrialConfig& config) {
      const bool stops = stopped.size() < interrupted && stopped.insert(config.id()).second;
      return stops ? runner::Fate::kill : runner::Fate::finish;
    };
    EXPECT_TRUE(runner::Coordinator(*store, executor, folder, progress).run(spec, [] { return false; }));
    return stopped;
  }

  std::string status(std::vector<std::string> further = {}) {
    further.insert(further.end(), {"--out", path("out")});
    EXPECT_EQ(run(further), 0) << err();
    return out();
  }
};

// Of several interrupted runs of one selection all but one are taken away, journal and key: nothing
// of what is shown may change.
TEST_F(Status, InterruptedRunsOfASelectionAreNotCounted) {
  std::set<std::string> stopped;
  for (int attempt = 0; stopped.size() < 3 && attempt < 30; ++attempt) {
    fs::remove_all(path("out"));
    stopped = fill(spec_of(kSelection), 3);  // as many as were drawn, up to 3
  }
  ASSERT_EQ(stopped.size(), 3U);
  const auto several = status();
  EXPECT_THAT(several, HasSubstr("1 study: "));
  EXPECT_THAT(several, HasSubstr("Noise keys are left behind"));
  EXPECT_THAT(several, Not(HasSubstr("step")));
  for (const auto& id : stopped) EXPECT_THAT(several, Not(HasSubstr(id)));
  const auto all = status({"--confidential"});
  EXPECT_THAT(all, HasSubstr(results::kWatermark));
  for (const auto& id : stopped) EXPECT_THAT(all, HasSubstr(id));
  EXPECT_THAT(all, HasSubstr("step 2/6"));
  EXPECT_THAT(all, HasSubstr("Noise keys: 4"));  // and that of the draws

  const runner::OutFolder folder{path("out")};
  for (const auto& id : stopped) {
    if (id == *stopped.begin()) continue;
    fs::remove(folder.journal(id));
    fs::remove(folder.key(id));
  }
  EXPECT_EQ(status(), several);
}

TEST_F(Status, OtherTrialsAreListed) {
  const auto stopped = fill(spec_of(kOpen), 1);
  ASSERT_EQ(stopped.size(), 1U);
  EXPECT_THAT(status(), HasSubstr(*stopped.begin() + "  linear on synthetic, step 2/6"));
}

// A damaged journal may be a losing run's: that there is one is said, which it is only where that
// is asked for.
TEST_F(Status, ADamagedJournalIsNotNamed) {
  const auto stopped = fill(spec_of(kSelection), 1);
  const runner::OutFolder folder{path("out")};
  file("out/journals/" + *stopped.begin() + ".jsonl", "no JSON\n{}\n");
  EXPECT_THAT(status(), HasSubstr("cannot be read"));
  EXPECT_THAT(status(), Not(HasSubstr(*stopped.begin())));
  EXPECT_THAT(status({"--confidential"}), HasSubstr(*stopped.begin()));
}

class DryRun : public CommandTest {
 protected:
  DryRun() : CommandTest("run") {}
};

// Among twenty draws of a Poisson number of mean 1.5 some are 0 and most are not.
TEST_F(DryRun, DoesNotDependOnTheNumberOfRuns) {
  std::set<std::string> shown;
  std::set<std::size_t> counts;
  for (int seed = 0; seed < 20; ++seed) {
    const auto text = spec_of(
        "  - {method: dp-hyper, options: {runs: poisson, mean_runs: 1.5, grid: [1e-3], score_noise: 300}}\n",
        fmt::format("s{}", seed));
    const auto path_of_spec = file("hidden.yaml", text);
    const auto study = runner::plan(runner::load_spec(path_of_spec).value()).value().at(0);
    counts.insert(study.baseline->next(study.cell, {}).value().size());
    EXPECT_EQ(run({path_of_spec, "--dry-run", "--out", path("out")}), 0) << err();
    shown.insert(out());
  }
  EXPECT_TRUE(counts.contains(0));
  EXPECT_GT(counts.size(), 2U);
  EXPECT_EQ(shown.size(), 1U) << *shown.begin() << *shown.rbegin();
  EXPECT_THAT(*shown.begin(), HasSubstr("a hidden number of first trials, sigma_g"));
}

TEST_F(DryRun, SaysWhereRdpSetsTheNoise) {
  const auto rows =
      "  - {method: hyfreedp, options: {accounting: paper}}\n  - {id: plain, method: fixed-rate}\n";
  ASSERT_EQ(run({file("mixed.yaml", spec_of(rows)), "--dry-run", "--out", path("out")}), 0) << err();
  std::istringstream lines(out());
  int found = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("sigma_g") == std::string::npos) continue;
    EXPECT_EQ(line.ends_with(", by rdp"), line.starts_with("  hyfreedp")) << line;
    ++found;
  }
  EXPECT_EQ(found, 2) << out();
}

}  // namespace status_command_test
}  // namespace hyfreedp::cli
