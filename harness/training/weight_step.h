// w - x u in one pass by all threads: the step itself, and where a probe looks. One function for both, so that a probe
// sees exactly the weights that the step would make.
#pragma once

#include <torch/types.h>

namespace hyfreedp::training {

// out := weights - x * direction, [d] each of one type; `out` may be `weights`. Product and difference are in
// double, rounded once. Returns whether every element of `out` is finite.
bool subtract_scaled(const torch::Tensor& weights, const torch::Tensor& direction, double x,
                     torch::Tensor& out);

}  // namespace hyfreedp::training
