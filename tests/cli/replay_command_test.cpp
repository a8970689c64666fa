// `hyfreedp replay` on a small pool that a fake worker fills.
#include <fmt/format.h>

#include "plots/gnuplot.h"
#include "results/table/table_model.h"
#include "tests/cli/command_fixture.h"
#include "tests/runner/fake_world.h"

namespace hyfreedp::cli {
namespace replay_command_test {

constexpr const char* kData =
    "{name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}";

std::string spec(const std::string& name, bool seeded, const std::string& dataset, const std::string& rows,
                 const std::string& epsilons) {
  return fmt::format(
      "name: {}\ntitle: {}\n{}panels:\n  - id: small\n    dataset: {}\n    model: linear\n    seeds: [0, 1]\n"
      "    delta: N^-1.1\n    epsilon: {}\n    train: {{sample_rate: 0.1, steps: 6, optimizer: adamw}}\n    "
      "rows:\n{}",
      name, name, seeded ? "noise_seed: s\n" : "", dataset, epsilons, rows);
}

const std::string kPoolRows = "      - {id: pool, method: nondp-gs, options: {grid: [1e-3, 1e-2]}}\n";
const std::string kRows =
    "      - {id: search, method: dp-hyper, options: {grid: [1e-3, 1e-2]}}\n"
    "      - {id: grid, method: nondp-gs, options: {grid: [1e-3, 1e-2]}}\n";

class Replay : public CommandTest {
 protected:
  Replay() : CommandTest("replay") {}

  void SetUp() override {
    CommandTest::SetUp();
    fill(spec("pool", true, kData, kPoolRows, "[0.3, 1, 3]"));
    rows_ = file("rows.yaml", spec("rows", true, kData, kRows, "[3]"));
  }

  // The spec's runs in the folder's database.
  void fill(const std::string& text) {
    const runner::OutFolder folder{path("out")};
    std::filesystem::create_directories(folder.root);
    auto store = results::Store::open(folder.database(), results::Store::Mode::read_write).value();
    auto loaded = runner::load_spec(file("pool.yaml", text)).value();
    ASSERT_TRUE(runner::enter_spec(*store, folder, loaded, false, false));
    std::ostream silent(nullptr);
    runner::Progress progress(silent, runner::Progress::Style::none);
    runner::FakeExecutor executor;
    ASSERT_TRUE(runner::Coordinator(*store, executor, folder, progress).run(loaded, [] { return false; }));
  }

  std::vector<std::string> asked(std::vector<std::string> further = {}) const {
    std::vector<std::string> arguments{"pool", "--rows", rows_, "--out", path("out"), "--repeats", "40"};
    arguments.insert(arguments.end(), further.begin(), further.end());
    return arguments;
  }

  // A pool on private data, and the arguments that replay it.
  std::vector<std::string> of_people(bool seeded) {
    const auto name = seeded ? "people-seeded" : "people";
    fill(spec(name, seeded, "fashion-mnist", kPoolRows, "[3]"));
    const auto rows = file("people.yaml", spec("own", true, "fashion-mnist", kPoolRows, "[3]"));
    return {name, "--rows", rows, "--out", path("out"), "--repeats", "5"};
  }

  static std::vector<std::string> with(std::vector<std::string> arguments,
                                       const std::vector<std::string>& further) {
    arguments.insert(arguments.end(), further.begin(), further.end());
    return arguments;
  }

  std::string rows_;
};

TEST_F(Replay, SaysThatItIsASimulationAndKeepsEveryLabel) {
  ASSERT_EQ(run(asked()), 0) << err();
  const auto text = out();
  EXPECT_EQ(text.rfind("SIMULATION on oracle information", 0), 0U) << text;
  for (const char* part : {"search", "simulated (of: end-to-end DP)", "grid", "simulated (of: oracle)",
                           "40 repeats", "12 runs at 6 settings", "at least 2 seeds each"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << '\n' << text;
  }
  EXPECT_EQ(text.find("CONFIDENTIAL"), std::string::npos) << "generated data is nobody's";
  ASSERT_EQ(run(asked()), 0);
  EXPECT_EQ(out(), text) << "the same seed must say the same";
}

TEST_F(Replay, WritesTheRowsAsCsv) {
  ASSERT_EQ(run(asked({"--csv", path("rows.csv")})), 0) << err();
  const auto csv = read_file(path("rows.csv")).value();
  EXPECT_EQ(lines_in(csv), 3);
  EXPECT_NE(csv.find("small,search,dp-hyper,simulated (of: end-to-end DP)"), std::string::npos) << csv;
  EXPECT_NE(csv.find("SIMULATION on oracle information"), std::string::npos);
}

TEST_F(Replay, Draws) {
  if (!find_program("gnuplot")) GTEST_SKIP() << "gnuplot is not installed";
  ASSERT_EQ(run(asked({"--plot", path("rows.svg")})), 0) << err();
  EXPECT_NE(read_file(path("rows.svg")).value().find("SIMULATION on oracle information"), std::string::npos);
}

TEST_F(Replay, RefusesWhatItCannotDo) {
  expect_refused({"pool", "--out", path("out")}, {"--rows"});
  expect_refused({"other", "--rows", rows_, "--out", path("out")}, {"no spec named 'other'"});
  expect_refused(asked({"--seed", "1.5"}), {"--seed is '1.5'"});
  expect_refused(asked({"--snap", "0.5"}), {"--snap"});
  expect_refused(asked({"--plot", path("rows.txt")}), {"rows.txt"});
  const auto longer = file("longer.yaml", spec("rows", true, kData, kRows, "[30]"));
  expect_refused({"pool", "--rows", longer, "--out", path("out")}, {"row search", "no noise near"});
}

// Un-noised scores are nobody's to show, whoever knows the noise of the runs; generated data is
// everybody's.
TEST_F(Replay, ScoresAreConfidentialUnlessTheDataIsPublic) {
  fill(spec("fresh", false, kData, kPoolRows, "[3]"));
  const auto rows = file("own.yaml", spec("own", true, kData, kPoolRows, "[3]"));
  EXPECT_EQ(run({"fresh", "--rows", rows, "--out", path("out"), "--repeats", "5"}), 0) << err();
  for (const bool seeded : {false, true}) {
    const auto arguments = of_people(seeded);
    expect_refused(arguments, {"--confidential", "fashion-mnist"});
    EXPECT_EQ(run(with(arguments, {"--confidential"})), 0) << err();
  }
}

TEST_F(Replay, ConfidentialOutputSaysSoEverywhere) {
  const auto arguments = with(of_people(true), {"--confidential", "--csv", path("rows.csv")});
  ASSERT_EQ(run(arguments), 0) << err();
  const auto text = out();
  const auto first = text.find(results::kWatermark);
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_LT(first, text.find("small\n"));
  EXPECT_GT(text.rfind(results::kWatermark), text.find("repeats of each line"));
  const auto csv = read_file(path("rows.csv")).value();
  EXPECT_NE(csv.find(",watermark\r\n"), std::string::npos) << csv;
  EXPECT_NE(csv.find(results::kWatermark), std::string::npos) << csv;
  if (!find_program("gnuplot")) GTEST_SKIP() << "gnuplot is not installed";
  ASSERT_EQ(run(with(arguments, {"--plot", path("rows.svg")})), 0) << err();
  EXPECT_NE(read_file(path("rows.svg")).value().find(results::kWatermark), std::string::npos);
}

}  // namespace replay_command_test
}  // namespace hyfreedp::cli
