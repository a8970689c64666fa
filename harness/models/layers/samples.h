// Functions that the layers' rules (layer.h) share: per-sample squared norms, factor-weighted sums
// over samples, and upper bounds of the rounding errors of norms.
//
// u is the unit roundoff: 2^-24 in float32, 2^-53 in float64.
#pragma once

#include <algorithm>
#include <optional>
#include <torch/types.h>

#include "harness/base/result.h"
#include "harness/models/layers/layer.h"
#include "harness/models/products/product_kernel.h"

namespace hyfreedp::models {

// True if no other tensor shares the memory of `tensor`, so that it may be overwritten.
inline bool is_own(const torch::Tensor& tensor) {
  return tensor.use_count() == 1 && tensor.storage().use_count() == 1 && tensor.is_contiguous();
}

// Calls `function` with a zero of the tensor's type, which must be float32 or float64.
template <class F>
void by_type(const torch::Tensor& tensor, const F& function) {
  if (tensor.scalar_type() == torch::kFloat32) {
    function(0.0F);
  } else {
    HYFREEDP_CHECK(tensor.scalar_type() == torch::kFloat64, "loops of our own take float32 or float64");
    function(0.0);
  }
}

// True if `values` are contiguous, on the CPU, and float32 or float64, as this library's own loops
// require.
bool has_loops(const torch::Tensor& values);

// The sum of squares of each sample's entries: [B, ...] -> [B] float64.
torch::Tensor squared_sample_norms(const torch::Tensor& values);

// norms[i] += ||b_i a_i^T||^2 + (with_bias ? ||b_i||^2 : 0): the squared norm of the gradient of a
// weight, and of a bias, that were applied to one vector of each sample.
//   gradients  b [B, out], output gradients
//   inputs     a [B, in]
//   norms      [B] float64. Squares that underflow in float32 do not make them too small.
void add_outer_norms(const torch::Tensor& gradients, const torch::Tensor& inputs, bool with_bias,
                     torch::Tensor& norms);

// Bounds on how much smaller than the true value a computed squared norm can be.
//
// Clipping bounds a sample's part of the sum by its computed norm, so the sensitivity holds only if
// the error of that norm is known. Let g be a sample's gradient as its records define it, in exact
// arithmetic, and g^ what the sum rule adds for it at factor 1. There are three cases:
//
//   sums of squares   The norm is computed from numbers that the sum rule itself reads. Squares are
//                     added in 16 partial sums of 64 terms and then in double. A sum of squares is
//                     too small by a relative error of at most 64 u, a product of two such sums by
//                     128 u, and its square root by 64 u = 2^-18. The factor, its product with the
//                     gradient and the first addition of the sum round by u each. norm_rounding()
//                     covers all of these.
//   ghost norms       See beyond_rounding().
//   gradients formed  See beyond_forming().
//   twice
//
// These bounds are for one sample. harness/trial/sum_rounding.h bounds what the additions of a
// batch round.

// The amount added to the length of a vector with n entries before the length is used in R (see
// beyond_rounding()). In float32, squares below 2^-126 underflow, so a computed length can be too
// small by sqrt(n) 2^-63. The result is this value times 10^2.5, so that the error e = 1e-5 R^2 is
// large enough to cover the loss. It is 0 for float64.
double lost_length(std::int64_t n, torch::ScalarType type);
// The lengths of vectors over the last dimension, in float32 at least, each increased by
// lost_length(): [..., n] -> [...] float64.
torch::Tensor reach_lengths(const torch::Tensor& vectors);

// The relative error of a norm (not squared) in the first case: 2^-17 for float32, 2^-46 for
// float64.
double norm_rounding(torch::ScalarType type);

// Ghost norms. The squared norm of g = sum_t a_t b_t^T is computed from inner products. These may
// cancel down to their rounding error while g^, which is computed differently, does not vanish. Let
// R = sum_t ||a_t|| ||b_t||, which bounds ||g||. The error allowed for is e = 1e-5 R^2 in float32
// and 1e-13 R^2 in float64. In float32:
//   estimate   is off by at most e / 2: each of the two matrix products by 41 u of the sum of its
//              absolute terms (inner_products())
//   g^         is off by at most 41 u R < 2.45e-6 R, so ||g^||^2 <= ||g||^2 + e / 2 because
//              ||g|| <= R
// Therefore ||g^||^2 <= estimate + e. If the estimate is below 100 e, the reported squared norm
// includes e. Otherwise it is the estimate, and e is the slack (SquaredNorms, layer.h), which
// clipping adds and which reported norms do not include.
//   estimate  the computed squared norm
//   reach     R^2, or an upper bound of it
//   type      the type in which the inner products were computed
// beyond_rounding() returns the reported squared norm, rounding_slack() the slack.
double beyond_rounding(double estimate, double reach, torch::ScalarType type);
double rounding_slack(double estimate, double reach, torch::ScalarType type);
// The same for [B] float64 each.
torch::Tensor beyond_rounding(const torch::Tensor& estimates, const torch::Tensor& reaches,
                              torch::ScalarType type);
torch::Tensor rounding_slack(const torch::Tensor& estimates, const torch::Tensor& reaches,
                             torch::ScalarType type);
// Adds both to `norms`.
void add_beyond_rounding(const torch::Tensor& estimates, const torch::Tensor& reaches, torch::ScalarType type,
                         SquaredNorms& norms);

// Gradients formed twice. The norm rule forms a gradient and the sum rule forms it again, in
// another order of additions. Each is off by at most e = 1e-5 R in float32 (1e-13 R in float64), so
// ||g^|| <= norm + 2 e. If the norm is below 100 e, the reported norm is norm + e; otherwise it is
// the norm. The slack raises either to norm + 2 e. If R is not finite, neither is the reported
// norm, and clipping gives the sample factor 0.
//   squared_norms  [B] float64, as computed
//   reaches        [B] float64: R^2 or any upper bound of it
// beyond_forming() returns the reported squared norms; add_beyond_forming() adds them and the slack
// to `norms`.
torch::Tensor beyond_forming(const torch::Tensor& squared_norms, const torch::Tensor& reaches,
                             torch::ScalarType type);
void add_beyond_forming(const torch::Tensor& squared_norms, const torch::Tensor& reaches,
                        torch::ScalarType type, SquaredNorms& norms);

// sum [...] += sum_i factors[i] values[i], for values [B, ...] and factors [B] in their type.
// Undefined factors: all 1. On the CPU eight samples are added up in float32 and such sums in
// float64, so each entry of the sum is off by at most 41 u of the sum of the absolute terms. On a
// GPU the terms are rounded to float32 and added up in float64, so the bound is 3 u there.
void add_weighted_sum(const torch::Tensor& values, const torch::Tensor& factors, torch::Tensor sum);
// The same sum, starting from zero: [B, ...], [B] -> [...].
torch::Tensor weighted_sum(const torch::Tensor& values, const torch::Tensor& factors);
// sum [p, q] += left^T right, for left [K, p] and right [K, q]; `sum` may have any strides and, on
// the CPU, the other of the two types. On the CPU 40 rows are added up in the type of left and
// right, and such sums in float64. Each entry is therefore off by at most 41 u of the sum of its
// absolute terms, and by u more for each further 40,960 rows, whatever the shapes are; and the bits
// do not depend on the number of threads. On a GPU the product is cuBLAS's in float64, where the
// products of float32 numbers are exact, so the bound is 2 u whatever the order of additions is.
void add_product(const torch::Tensor& left, const torch::Tensor& right, torch::Tensor sum);
// Says, until it is destroyed, whether this thread's calls of add_product() in float32 on a CPU may
// round a product and the sum with it once. The bound holds; the bits depend on the processor.
class FusedProducts {
 public:
  explicit FusedProducts(bool allowed);
  FusedProducts(const FusedProducts&) = delete;
  ~FusedProducts();

 private:
  bool before_;
};
// Computes on any device as add_product() does on a GPU.
void add_product_on_device(const torch::Tensor& left, const torch::Tensor& right, torch::Tensor& sum);
// The same by a given kernel, for tests and timings; left and right contiguous on the CPU.
template <class T>
void add_product_by(const ProductKernel<T>& kernel, const torch::Tensor& left, const torch::Tensor& right,
                    torch::Tensor sum);
// The same product as new numbers, on the calling thread: out [height, width], for left [rows,
// height] and right [rows, width], each row-major; T is float or double.
template <class T>
void product(const T* left, const T* right, std::int64_t rows, std::int64_t height, std::int64_t width,
             T* out);
// [B, S, T]: the inner products of each sample's vectors, [B, S, n] and [B, T, n]; on the CPU in
// their type and rounded as by add_product(), on a GPU in float64: what cuBLAS adds up in float32,
// nothing bounds as tightly as a ghost norm needs. By their data sheets A100, H100 and H200
// multiply both types equally fast; what float64 costs was not measured.
torch::Tensor inner_products(const torch::Tensor& left, const torch::Tensor& right);
// [B, T, T]: the inner products of each sample's vectors [B, T, n] with each other, as by
// inner_products(vectors, vectors). Of vectors in bfloat16, where can_multiply_narrow(vectors), the
// products are in float32, within the same bound.
torch::Tensor gram_matrices(const torch::Tensor& vectors);
// True if `values` are in bfloat16, on the CPU, and this processor multiplies such numbers.
bool can_multiply_narrow(const torch::Tensor& values);
// Computes on any device as inner_products() does on a GPU, for tests.
torch::Tensor inner_products_on_device(const torch::Tensor& left, const torch::Tensor& right);
// Adds row k of `rows` [K, D], times its sample's factor, to row ids[k] of `sum` [V, D]. The rows
// of one id are added in float64.
//   ids      [K] int64, in [0, V)
//   factors  [B], where K = B T and the T rows of each sample are consecutive; undefined: all 1
//   skipped  rows with this id are left out
void add_rows_by_id(const torch::Tensor& ids, const torch::Tensor& rows, const torch::Tensor& factors,
                    std::optional<std::int64_t> skipped, torch::Tensor sum);

// The most numbers of either side of a product whose copies, in float64, a GPU holds at a time:
// 134 MB.
inline constexpr std::int64_t kWideNumbers = 1 << 24;
// Calls add(first, count) for pieces of [0, rows) of kWideNumbers numbers at most, or of one row.
//   width  numbers of a row
template <class Add>
void for_pieces(std::int64_t rows, std::int64_t width, const Add& add) {
  const auto at_once = std::max<std::int64_t>(1, kWideNumbers / std::max<std::int64_t>(1, width));
  for (std::int64_t first = 0; first < rows; first += at_once) add(first, std::min(at_once, rows - first));
}

// factors[i] * values[i], for values [B, ...] and factors [B]; `values` itself if the factors are
// undefined.
inline torch::Tensor scaled_samples(const torch::Tensor& values, const torch::Tensor& factors) {
  if (!factors.defined()) return values;
  std::vector<std::int64_t> shape(static_cast<std::size_t>(values.dim()), 1);
  shape[0] = values.size(0);
  return values * factors.view(shape);
}

}  // namespace hyfreedp::models
