// How many numbers a network holds while it computes, counted from its blueprint, without LibTorch:
// an upper bound of what harness/models/layers/network.h keeps, which
// tests/training/memory_test.cpp holds to the memory of real steps of every registered model.
//
// A private step keeps, of each layer from the lowest that trains upwards, what its gradients read:
// before the backward pass reaches it the values that it was given and gave; afterwards either its
// input and output gradient or its per-sample gradients, whichever the layer chooses (linear.h,
// conv2d.h). The most is at some layer on the way back:
//   recorded = max over l of (sum of given below l + sum of kept from l on)
#pragma once

#include <algorithm>

#include "harness/models/facts/blueprint.h"

namespace hyfreedp::models {

struct StepMemory {
  double parameters = 0;  // numbers, trained or not
  double trained = 0;     // d of them
  // Numbers of one sample, each of its copies counted as one:
  double recorded = 0;  // between the forward pass and the clipped sum
  double passing = 0;   // in addition, while one layer's gradients are computed
  double forward = 0;   // while a layer is computed without record
  // Numbers that do not grow with the samples: what one layer's rules take for its own sums.
  double fixed = 0;

  // The most of one sample.
  double sample() const { return std::max(recorded + passing, forward); }
};

// `on_cpu`: there a convolution's rules keep less than on a GPU. Errors are those of blueprint().
Result<StepMemory> step_memory(const std::string& model, const json::object& options, const ModelInput& input,
                               bool on_cpu);

}  // namespace hyfreedp::models
