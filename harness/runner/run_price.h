// What runs cost to compute: for --dry-run an estimate for a GPU, for the coordinator which runs are long.
//
//   FLOPs of a run = 6 P n + 2 P n_probe
// P: all parameters of the model, trained or not; n: examples seen (T B) times the tokens or patches of each (1 where it has none), forward and
// backward; n_probe: those that probes look at, forward alone: ceil(T / K) points B'. A weight is taken to be used once a token, which is too
// little for convolutions. Evaluation is not counted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/trial/trial_config.h"

namespace hyfreedp::runner {

// Sustained rate that GPU hours are stated at unless --gpu-tflops says another: some 10 % of an H100's dense bfloat16 peak.
inline constexpr double kAssumedTflops = 100;

struct RunPrice {
  std::int64_t runs = 0;
  double examples = 0;  // expected, probes' included
  double flops = 0;

  void add(const RunPrice& other);
};

Result<RunPrice> price_of(const trial::TrialConfig& config);
// One sentence: "36 runs see 72,000 examples; ...".
std::string price_text(const RunPrice& price, double tflops);

}  // namespace hyfreedp::runner
