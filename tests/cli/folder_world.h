// Output folders on disk, with runs of specs in them that end at once (fake_world.h).
#pragma once

#include <fmt/format.h>
#include <string>
#include <vector>

#include "harness/runner/odometer/odometer.h"
#include "harness/runner/odometer/out_folder.h"
#include "results/provenance/export.h"
#include "results/store/store.h"
#include "tests/cli/command_fixture.h"
#include "tests/runner/fake_world.h"

namespace hyfreedp::cli {

class FolderTest : public CommandTest {
 protected:
  using CommandTest::CommandTest;

  static std::string spec_of(const std::string& rows, const std::string& name = "hidden",
                             const std::string& noise_seed = "") {
    return fmt::format(
        "name: {}\ntitle: t\n{}defaults:\n"
        "  dataset: {{name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}}\n"
        "  seeds: [0]\n  epsilon: [3]\n  delta: 1e-5\n"
        "  train: {{sample_rate: 0.1, steps: 6, optimizer: adamw}}\n  evaluate: {{every: 0}}\n"
        "panels:\n  - {{id: small, model: linear}}\nrows:\n{}",
        name, noise_seed.empty() ? "" : "noise_seed: " + noise_seed + "\n", rows);
  }

  runner::OutFolder folder(const std::string& name) const { return {path(name)}; }
  std::unique_ptr<results::Store> store(const std::string& name) const {
    return results::Store::open(folder(name).database(), results::Store::Mode::read_write).value();
  }

  // Runs the spec in the folder, as `hyfreedp run` would.
  Result<runner::RunReport> try_fill(const std::string& name, const std::string& yaml,
                                     runner::FakeExecutor& executor,
                                     const std::vector<std::string>& only = {}) const {
    const auto out = folder(name);
    std::filesystem::create_directories(out.root);
    const auto opened = store(name);
    auto spec = runner::load_spec(file("spec.yaml", yaml)).value();
    if (auto entered = runner::enter_spec(*opened, out, spec, false, false); !entered) return entered.error();
    std::ostream silent(nullptr);
    runner::Progress progress(silent, runner::Progress::Style::none);
    runner::Coordinator coordinator(*opened, executor, out, progress);
    coordinator.keep_to(runner::Only::read(only, spec).value());
    return coordinator.run(spec, [] { return false; });
  }
  // As `hyfreedp run --only` would.
  void fill_part(const std::string& name, const std::string& yaml, const std::vector<std::string>& only,
                 runner::FakeExecutor& executor) const {
    const auto ran = try_fill(name, yaml, executor, only);
    ASSERT_TRUE(ran) << ran.error().message;
  }
  void fill_part(const std::string& name, const std::string& yaml,
                 const std::vector<std::string>& only) const {
    runner::FakeExecutor executor;
    fill_part(name, yaml, only, executor);
  }
  void fill(const std::string& name, const std::string& yaml, runner::FakeExecutor& executor) const {
    const auto ran = try_fill(name, yaml, executor);
    ASSERT_TRUE(ran) << ran.error().message;
  }
  void fill(const std::string& name, const std::string& yaml) const {
    runner::FakeExecutor executor;
    fill(name, yaml, executor);
  }
  // The same, with every run killed on its way.
  void fill_killed(const std::string& name, const std::string& yaml) const {
    runner::FakeExecutor executor;
    executor.fate = [](const auto&) { return runner::Fate::kill; };
    fill(name, yaml, executor);
  }

  std::string rows(const std::string& name, const std::string& spec) const {
    return results::export_rows(*store(name), spec, {}).value();
  }
  double odometer(const std::string& name) const {
    const auto read = runner::odometer_of(*store(name), folder(name)).value();
    EXPECT_EQ(read.data.size(), 1u);
    EXPECT_FALSE(read.data.at(0).has_unknown_selection);
    EXPECT_TRUE(read.unreadable.empty());
    return runner::read_odometer(read.data.at(0), 1e-5).value().total.epsilon;
  }
};

inline const std::string kSelectionRow =
    "  - {method: dp-hyper, options: {grid: [1e-3, 1e-2], mean_runs: 6, score_noise: 300}}\n";
inline const std::string kProdigyRow = "  - {method: prodigy}\n";
inline const std::string kFixedRow = "  - {id: fixed, method: fixed-rate, options: {lr: 5e-2}}\n";
inline const std::string kSearchRow =
    "  - {method: linear-scaling, options: {t_min: 2, t_max: 6, r_max: 8}}\n";

}  // namespace hyfreedp::cli
