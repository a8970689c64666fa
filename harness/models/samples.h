// Sums over everything but the samples, which the layers' rules share.
#pragma once

#include <torch/types.h>

#include "harness/base/result.h"

namespace hyfreedp::models {

// Nobody else sees its numbers, so that they may be written over.
inline bool is_own(const torch::Tensor& tensor) {
  return tensor.use_count() == 1 && tensor.storage().use_count() == 1 && tensor.is_contiguous();
}

// Calls `function` with a zero of the tensor's type, float32 or float64.
template <class F>
void by_type(const torch::Tensor& tensor, const F& function) {
  if (tensor.scalar_type() == torch::kFloat32) {
    function(0.0F);
  } else {
    HYFREEDP_CHECK(tensor.scalar_type() == torch::kFloat64, "loops of our own take float32 or float64");
    function(0.0);
  }
}

// In the CPU's memory, in order, of a type that loops of our own take: float32 or float64.
bool has_loops(const torch::Tensor& values);

// [B, ...] -> [B], float64: sum of squares of each sample's entries.
torch::Tensor squared_sample_norms(const torch::Tensor& values);

// norms [B], float64, += ||b_i a_i^T||^2, and ||b_i||^2 more with `with_bias`: of a weight (and bias) that met one vector a sample.
//   gradients b [B, out], inputs a [B, in]
void add_outer_norms(const torch::Tensor& gradients, const torch::Tensor& inputs, bool with_bias,
                     torch::Tensor& norms);

// Squares below 2^-126 are lost in float32, and with them up to sqrt(n) 2^-63 of a vector's length; a factor that is huge makes a product
// of that which is not small.

// What lengths of vectors of n entries may lack, times the 1e2.5 by which the error that a reach allows (below) is smaller than it.
double lost_length(std::int64_t n, torch::ScalarType type);
// [..., n] -> [...], float64: lengths that are not too short, for a reach.
torch::Tensor reach_lengths(const torch::Tensor& vectors);

// A ghost norm ||sum_t a_t b_t^T||^2 comes as a sum of inner products, which may cancel down to their rounding error while
// the gradient itself, of which the clipped sum is made, does not vanish. `reach` = (sum_t ||a_t|| ||b_t||)^2 bounds what was
// added up; an estimate below 100 times the error that it allows gets that error added, so that a sample's factor is never
// too large. Ordinary samples keep their bits.
//   error   1e-5 reach in float32, 1e-13 reach in float64
double beyond_rounding(double estimate, double reach, torch::ScalarType type);
// The same for [B] float64 each.
torch::Tensor beyond_rounding(const torch::Tensor& estimates, const torch::Tensor& reaches,
                              torch::ScalarType type);

// The same for squared norms of gradients that were formed, where the sum forms them again, in another order: either is off by up to
// e = 1e-5 sqrt(reach) in float32 (1e-13 in float64), which a gradient that cancels within its sample does not exceed. A norm below
// 100 e gets e added. `reaches` may be any upper bound.
torch::Tensor beyond_forming(const torch::Tensor& squared_norms, const torch::Tensor& reaches,
                             torch::ScalarType type);

// [B, ...], [B] -> [...]: sum_i factors[i] values[i]; undefined factors: all 1.
inline torch::Tensor weighted_sum(const torch::Tensor& values, const torch::Tensor& factors) {
  if (!factors.defined()) return values.sum(0);
  const auto flat = values.flatten(1);
  return at::mv(flat.t(), factors).view(values.sizes().slice(1));
}

// sum [...] += sum_i factors[i] values[i] for values [B, ...], in one pass where `sum` is dense; undefined factors: all 1.
inline void add_weighted_sum(const torch::Tensor& values, const torch::Tensor& factors, torch::Tensor sum) {
  if (!factors.defined() || !sum.is_contiguous()) {
    sum.add_(weighted_sum(values, factors).view(sum.sizes()));
    return;
  }
  sum.view({-1}).addmv_(values.flatten(1).t(), factors);
}

// values[i] * factors[i]; `values` itself where factors are undefined.
inline torch::Tensor scaled_samples(const torch::Tensor& values, const torch::Tensor& factors) {
  if (!factors.defined()) return values;
  std::vector<std::int64_t> shape(static_cast<std::size_t>(values.dim()), 1);
  shape[0] = values.size(0);
  return values * factors.view(shape);
}

}  // namespace hyfreedp::models
