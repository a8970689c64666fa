// Computes w - x u in one pass by all threads: the step itself, and the point of a probe. Both use
// this one function, so that a probe is evaluated at exactly the weights that the step would give.
#pragma once

#include <torch/types.h>

namespace hyfreedp::training {

// out := weights - x * direction, [d] each of one type; `out` may be `weights`. Product and
// difference are in double, rounded once. Returns whether every element of `out` is finite.
bool subtract_scaled(const torch::Tensor& weights, const torch::Tensor& direction, double x,
                     torch::Tensor& out);

}  // namespace hyfreedp::training
