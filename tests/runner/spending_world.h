// Specs whose runs spend, and what an output folder has spent: for tests of odometer and budget.
#pragma once

#include <gmock/gmock.h>
#include <string>

#include "harness/runner/odometer/odometer.h"
#include "tests/runner/fake_world.h"

namespace hyfreedp::runner::spending {

inline constexpr double kDelta = 1e-5;

inline std::string spec_of(const std::string& name, const std::string& rows,
                           const std::string& epsilons = "[3]", const std::string& noise_seed = "s") {
  return "name: " + name + "\ntitle: t\n" + (noise_seed.empty() ? "" : "noise_seed: " + noise_seed + "\n") +
         R"(
panels:
  - id: small
    dataset: {name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}
    model: linear
    seeds: [0, 1]
    epsilon: )" +
         epsilons + R"(
    delta: 1e-5
    train: {sample_rate: 0.1, steps: 6, optimizer: adamw}
    evaluate: {every: 0}
    rows:
)" + rows;
}
inline const std::string kFixed = "      - {id: fixed, method: fixed-rate, options: {lr: 5e-2}}\n";
inline const std::string kAnother = "      - {id: another, method: fixed-rate, options: {lr: 2e-2}}\n";
inline const std::string kGrids =
    "      - {id: narrow, method: nondp-gs, options: {grid: [1e-2, 1e-1]}}\n"
    "      - {id: wide, method: nondp-gs, options: {grid: [1e-3, 1e-2, 1e-1]}}\n";
inline const std::string kSelection =
    "      - {method: dp-hyper, options: {runs: poisson, mean_runs: 20, score_noise: 300}}\n";
inline const std::string kTwoRounds =
    "      - {method: linear-scaling, seeds: [0], options: {t_min: 2, t_max: 6, r_max: 8}}\n";

inline Spending only(World& world, const OdometerOptions& options = {}) {
  auto odometer = odometer_of(world.store(), world.out(), options).value();
  EXPECT_THAT(odometer.data, ::testing::SizeIs(1));
  EXPECT_THAT(odometer.unreadable, ::testing::IsEmpty());
  return odometer.data.at(0);
}

inline double epsilon_of(const Spending& spending) {
  return read_odometer(spending, kDelta).value().total.epsilon;
}
inline double epsilon_of(World& world, const OdometerOptions& options = {}) {
  return epsilon_of(only(world, options));
}

// A finished run.
inline results::TrialRecord record_of(trial::TrialConfig config, std::vector<accounting::Event> events) {
  results::TrialRecord record;
  record.id = config.id();
  record.config = config.to_json();
  record.state = trial::TrialState::finished;
  record.events = std::move(events);
  return record;
}

// Of one of the runs that a fixed rate makes, on other data.
inline trial::TrialConfig any_config(const std::string& dataset = "fashion-mnist") {
  const std::string path = ::testing::TempDir() + "odometer-any.yaml";
  write_file_atomically(path, spec_of("any", kFixed)).value();
  auto config = plan(load_spec(path).value())
                    .value()
                    .at(0)
                    .baseline->next(plan(load_spec(path).value()).value().at(0).cell, {})
                    .value()
                    .at(0);
  if (dataset != "synthetic") config.dataset = {dataset, {{"features", "hog"}}};
  return config;
}

inline accounting::Event on(const std::string& split, double noise, std::int64_t count = 10) {
  auto event = accounting::poisson_gaussian(0.1, noise, count);
  event.split = split;
  return event;
}

}  // namespace hyfreedp::runner::spending
