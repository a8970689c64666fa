// Specs that draw, and what anybody sees of a folder: for tests of release records.
#pragma once

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>

#include "harness/runner/odometer/odometer.h"
#include "results/provenance/export.h"
#include "tests/runner/fake_world.h"

namespace hyfreedp::runner {

inline const std::string kSelection =
    "      - {method: dp-hyper, options: {grid: [1e-3, 1e-2], mean_runs: 6, score_noise: 300}}\n";
inline const std::string kOthers =
    "      - {method: random-search, options: {rate_min: 1e-3, rate_max: 1e-1}}\n"
    "      - {id: several, method: random-search, options: {runs: 3, rate_min: 1e-3, rate_max: 1e-1, "
    "score_noise: 300}}\n"
    "      - {method: linear-scaling, options: {t_min: 2, t_max: 6, r_max: 8}}\n"
    "      - {method: prodigy}\n";
inline const std::string kFixed = "      - {id: fixed, method: fixed-rate, options: {lr: 5e-2}}\n";

// `head`: further lines of the top level.
inline std::string spec_of(const std::string& rows, const std::string& name = "drawn",
                           const std::string& head = "") {
  return fmt::format("name: {}\ntitle: t\n{}", name, head) + R"(
panels:
  - id: small
    dataset: {name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}
    model: linear
    seeds: [0, 1]
    epsilon: [3]
    delta: 1e-5
    train: {sample_rate: 0.1, steps: 6, optimizer: adamw}
    evaluate: {every: 0}
    rows:
)" + rows;
}
inline const std::string kDrawn = spec_of(kSelection + kOthers);

inline constexpr auto kNever = [] { return false; };

struct Shown {
  std::string rows;
  double odometer = 0;
  bool is_known = true;
  bool operator==(const Shown&) const = default;
};

// What anybody sees: the rows as they are exported, and what all runs together have spent.
inline Shown shown(World& world, const std::string& spec = "drawn") {
  Shown shown{.rows = results::export_rows(world.store(), spec, {}).value()};
  const auto odometer = odometer_of(world.store(), world.out()).value();
  EXPECT_EQ(odometer.data.size(), 1u);
  shown.odometer = read_odometer(odometer.data.at(0), 1e-5).value().total.epsilon;
  shown.is_known = !odometer.data.at(0).has_unknown_selection;
  return shown;
}

// Without its database the folder is as it was `before`, and nothing is trained for it.
inline void expect_rebuilt(World& world, const std::string& rows, const Shown& before) {
  world.forget_database();
  FakeExecutor again;
  world.run(spec_of(rows), again);
  EXPECT_TRUE(again.submitted.empty());
  EXPECT_EQ(shown(world), before);
}

inline void lose_journals(World& world) {
  for (const auto& entry : std::filesystem::directory_iterator(world.out().journals())) {
    if (entry.path().extension() == ".jsonl") std::filesystem::remove(entry.path());
  }
}

inline Result<RunReport> try_run(World& world, const std::string& yaml, FakeExecutor& executor,
                                 bool fresh = false, bool replace = false) {
  auto spec = world.read(yaml);
  if (auto entered = enter_spec(world.store(), world.out(), spec, fresh, replace); !entered) {
    return entered.error();
  }
  std::ostream silent(nullptr);
  Progress progress(silent, Progress::Style::none);
  return Coordinator(world.store(), executor, world.out(), progress).run(spec, kNever);
}

}  // namespace hyfreedp::runner
