// The computing cost of runs: for --dry-run an estimate for a GPU, for the coordinator the order of
// runs.
//
//   FLOPs of a run = 6 P n + 2 P n_probe; 4 P n where DP-ZO takes two forward passes for a step
// P: all parameters of the model, trained or not, a convolution's once for each place of the image;
// n: examples seen (T B, each of its copies one) times the tokens or patches of each (1 where it
// has none), forward and backward; n_probe: those that probes look at, forward alone: ceil(T / K)
// points B'. Evaluation looks at the test split, and the validation split where a run scores it,
// forward alone; it is kept apart and no part of what --dry-run states as FLOPs. What a frozen
// network computes once for a dataset's features is stated by itself: 2 P for each token of every
// image.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/trial/trial_config.h"

namespace hyfreedp::runner {

// The sustained rate for GPU hours, if --gpu-tflops does not give another: about 10 % of an H100's
// dense bfloat16 peak.
inline constexpr double kAssumedTflops = 100;

struct RunPrice {
  std::int64_t runs = 0;
  double examples = 0;  // expected, probes' included
  double flops = 0;     // of training and probing
  double evaluation_flops = 0;
  double elements = 0;  // features read of all these examples, those of evaluation included

  void add(const RunPrice& other);
};

Result<RunPrice> price_of(const trial::TrialConfig& config);
// FLOPs of making a dataset's features; 0 for one whose features no network makes.
Result<double> feature_flops(const trial::Named& dataset);
// "Price of these: 36 runs, 72000 examples seen, ..." `features`: FLOPs of making them.
std::string price_text(const RunPrice& price, double tflops, double features = 0);

}  // namespace hyfreedp::runner
