// A small spec of several rows, some of which share runs, with a noise seed and without.
#pragma once

#include <cstddef>
#include <string>

namespace hyfreedp::runner::tiny {

// Two rows share the runs at 0.01 and 0.1; the private arm is cheap to calibrate.
inline constexpr const char* kRows = R"(
panels:
  - id: small
    dataset: {name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}
    model: linear
    seeds: [0, 1]
    epsilon: [3, inf]
    delta: N^-1.1
    train: {sample_rate: 0.1, steps: 6, optimizer: adamw}
    evaluate: {every: 0}
    rows:
      - {id: narrow, method: nondp-gs, options: {grid: [1e-2, 1e-1]}}
      - {id: wide, method: nondp-gs, options: {grid: [1e-3, 1e-2, 1e-1]}}
      - {id: fixed, method: fixed-rate, options: {lr: 5e-2}}
)";
inline const std::string kSeeded = std::string("name: tiny\ntitle: tiny\nnoise_seed: s\n") + kRows;
inline const std::string kUnseeded = std::string("name: tiny\ntitle: tiny\n") + kRows;
inline constexpr std::size_t kStudies = 12;
inline constexpr std::size_t kTrials = 16;  // (3 rates + the fixed one) x 2 seeds x 2 arms

}  // namespace hyfreedp::runner::tiny
