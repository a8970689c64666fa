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

}  // namespace hyfreedp::runner::spending
