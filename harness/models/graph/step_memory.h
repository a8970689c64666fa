// Counts the numbers that a network holds while it computes, from its graph, without LibTorch: an
// upper bound of what harness/models/layers/network.h keeps. tests/training/memory_test.cpp
// compares it with the memory of real steps of every registered model.
//
// The forward and the backward pass are followed place by place. A record keeps what its layer's
// gradients read: inputs, output, and what the layer saves. On the way back each record is let go
// of as soon as its layer's gradient is known; of a layer that trains either the pair of input and
// output gradient stays or its per-sample gradients, whichever the layer chooses (layers/linear.h,
// layers/conv2d.h). A block that is computed again on the way back has records only from then on,
// and until then what its places read of earlier ones. layer_memory.h says of each kind of layer
// what it reads, saves and forms.
#pragma once

#include <algorithm>
#include <vector>

#include "harness/models/graph/graph.h"
#include "harness/models/graph/layer_memory.h"

namespace hyfreedp::models {

struct StepMemory {
  double parameters = 0;  // numbers, trained or not
  double trained = 0;     // d of them
  // Numbers of one sample, each of its copies counted as one:
  double recorded = 0;  // the most between the forward pass and the clipped sum
  double passing = 0;   // the most in addition, while one layer's values or gradients are computed
  double together = 0;  // the most of both at once
  double forward = 0;   // while a layer is computed without record
  // Numbers that do not grow with the samples: what one layer's rules take for its own sums.
  double fixed = 0;
  double sums = 0;  // of these, what a forward pass alone does not take

  // The most of one sample, where what is recorded has this share of a number's size.
  double sample(double share = 1) const {
    return std::max(std::min(together, share * recorded + passing), forward);
  }
};

namespace graph {

// `trainable`: one entry for each of parameters_of(graph). `target`: on a CPU a convolution's rules
// keep less than on a GPU, and attention in a narrow type may keep its scores.
StepMemory step_memory(const Graph& graph, const std::vector<bool>& trainable, const ModelInput& input,
                       const Target& target);

}  // namespace graph
}  // namespace hyfreedp::models
