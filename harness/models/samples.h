// Sums over everything but the samples, which the layers' rules share.
#pragma once

#include <torch/types.h>

namespace hyfreedp::models {

// [B, ...] -> [B], float64: sum of squares of each sample's entries.
inline torch::Tensor squared_sample_norms(const torch::Tensor& values) {
  return at::linalg_vector_norm(values.flatten(1), 2, at::IntArrayRef{1}).to(torch::kFloat64).square_();
}

// [B, ...], [B] -> [...]: sum_i factors[i] values[i]; undefined factors: all 1.
inline torch::Tensor weighted_sum(const torch::Tensor& values, const torch::Tensor& factors) {
  if (!factors.defined()) return values.sum(0);
  const auto flat = values.reshape({values.size(0), -1});
  return at::mv(flat.t(), factors).view(values.sizes().slice(1));
}

// values[i] * factors[i]; `values` itself where factors are undefined.
inline torch::Tensor scaled_samples(const torch::Tensor& values, const torch::Tensor& factors) {
  if (!factors.defined()) return values;
  std::vector<std::int64_t> shape(static_cast<std::size_t>(values.dim()), 1);
  shape[0] = values.size(0);
  return values * factors.view(shape);
}

}  // namespace hyfreedp::models
