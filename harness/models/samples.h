// Sums over everything but the samples, which the layers' rules share.
#pragma once

#include <optional>
#include <torch/types.h>

#include "harness/base/result.h"
#include "harness/models/layer.h"

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

// norms [B], float64, += ||b_i a_i^T||^2, and ||b_i||^2 more with `with_bias`: of a weight
// (and bias) that met one vector a sample.
//   gradients b [B, out], inputs a [B, in]
void add_outer_norms(const torch::Tensor& gradients, const torch::Tensor& inputs, bool with_bias,
                     torch::Tensor& norms);

// Squares below 2^-126 are lost in float32, and with them up to sqrt(n) 2^-63 of a vector's length;
// a factor that is huge makes a product of that which is not small.

// What lengths of vectors of n entries may lack, times the 1e2.5 by which the error that a reach
// allows (below) is smaller than it.
double lost_length(std::int64_t n, torch::ScalarType type);
// [..., n] -> [...], float64: lengths that are not too short, for a reach.
torch::Tensor reach_lengths(const torch::Tensor& vectors);

// How far a squared norm may lie below the truth. With u = 2^-24 for float32 (2^-53 for float64),
// ||g|| a sample's gradient as its records define it, without rounding, and g^ what the sum rule
// adds of it at factor 1:
//
//   formed, vectors   Squares of numbers that the sum rule itself reads are added up in 16 lanes of
//                     64 and then in double, so a sum of squares lacks at most a part 64 u, the
//                     product of two of them 128 u, a length 64 u = 2^-18. Factor, product and
//                     first addition of the sum round by u each. norm_rounding = 2^-17 of the
//                     length covers both.
//   beyond_rounding   ghost norms, below
//   beyond_forming    gradients that the sum rule forms anew, below
//
// What these cover is one sample alone; what a batch's additions round is
// harness/trial/sum_rounding.h.
double norm_rounding(torch::ScalarType type);  // 2^-17 for float32, 2^-46 for float64

// A ghost norm ||sum_t a_t b_t^T||^2 comes as a sum of inner products, which may cancel down to
// their rounding error while the gradient itself, of which the clipped sum is made, does not
// vanish. With R = sum_t ||a_t|| ||b_t||, `reach` = R^2 bounds what was added up; the error is
// e = 1e-5 reach in float32 and 1e-13 reach in float64:
//   estimate   off by e / 2 at most: both products of matrices by 41 u of their terms (measured)
//   g^         off by 41 u R = 2.45e-6 R. With x = ||g|| / R in [0, 1],
//              sqrt(x^2 + 5e-6) + 2.45e-6 <= sqrt(x^2 + 1e-5)
// so that the squared length of g^ is at most estimate + e. An estimate below 100 e is told with e
// added; of larger ones e is the slack, which factors count and reported norms leave out.
double beyond_rounding(double estimate, double reach, torch::ScalarType type);
double rounding_slack(double estimate, double reach, torch::ScalarType type);
// The same for [B] float64 each.
torch::Tensor beyond_rounding(const torch::Tensor& estimates, const torch::Tensor& reaches,
                              torch::ScalarType type);
torch::Tensor rounding_slack(const torch::Tensor& estimates, const torch::Tensor& reaches,
                             torch::ScalarType type);
// Both of them into `norms`.
void add_beyond_rounding(const torch::Tensor& estimates, const torch::Tensor& reaches, torch::ScalarType type,
                         SquaredNorms& norms);

// The same for squared norms of gradients that were formed, where the sum forms them again, in
// another order: either is off by up to e = 1e-5 sqrt(reach) in float32 (1e-13 in float64), so that
// the length of g^ is at most norm + 2 e. A norm below 100 e is told with e added; what is left is
// the slack. `reaches` may be any upper bound. Where it is not finite nothing is known of the
// sample, and its norm is not finite: it counts as 0.
torch::Tensor beyond_forming(const torch::Tensor& squared_norms, const torch::Tensor& reaches,
                             torch::ScalarType type);
void add_beyond_forming(const torch::Tensor& squared_norms, const torch::Tensor& reaches,
                        torch::ScalarType type, SquaredNorms& norms);

// sum [...] += sum_i factors[i] values[i] for values [B, ...]; undefined factors: all 1. Groups of
// eight samples are added up in float64 on the CPU, pieces of some hundreds elsewhere, so that each
// entry is off by 64 u of the entries' absolute sum at most.
void add_weighted_sum(const torch::Tensor& values, const torch::Tensor& factors, torch::Tensor sum);
// [B, ...], [B] -> [...]: the same from zero.
torch::Tensor weighted_sum(const torch::Tensor& values, const torch::Tensor& factors);
// sum [p, q] += left^T right for left [K, p], right [K, q], off by 64 u of the absolute sum at
// most.
void add_product(const torch::Tensor& left, const torch::Tensor& right, torch::Tensor sum);
// sum [V, D] += rows [K, D], each to the row of `sum` that ids [K] says, added up in float64; ids
// equal to `skipped` are left out.
//   factors  [B] of K = B T rows, sample by sample; undefined: all 1
void add_rows_by_id(const torch::Tensor& ids, const torch::Tensor& rows, const torch::Tensor& factors,
                    std::optional<std::int64_t> skipped, torch::Tensor sum);

// values[i] * factors[i]; `values` itself where factors are undefined.
inline torch::Tensor scaled_samples(const torch::Tensor& values, const torch::Tensor& factors) {
  if (!factors.defined()) return values;
  std::vector<std::int64_t> shape(static_cast<std::size_t>(values.dim()), 1);
  shape[0] = values.size(0);
  return values * factors.view(shape);
}

}  // namespace hyfreedp::models
