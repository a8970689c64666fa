// Sums over everything but the samples, which the layers' rules share.
#pragma once

#include <torch/types.h>

namespace hyfreedp::models {

// [B, ...] -> [B], float64: sum of squares of each sample's entries.
torch::Tensor squared_sample_norms(const torch::Tensor& values);

// [B, ...], [B] -> [...]: sum_i factors[i] values[i]; undefined factors: all 1.
inline torch::Tensor weighted_sum(const torch::Tensor& values, const torch::Tensor& factors) {
  if (!factors.defined()) return values.sum(0);
  const auto flat = values.reshape({values.size(0), -1});
  return at::mv(flat.t(), factors).view(values.sizes().slice(1));
}

// sum [...] += sum_i factors[i] values[i] for values [B, ...], in one pass where `sum` is dense; undefined factors: all 1.
inline void add_weighted_sum(const torch::Tensor& values, const torch::Tensor& factors, torch::Tensor sum) {
  if (!factors.defined() || !sum.is_contiguous()) {
    sum.add_(weighted_sum(values, factors).view(sum.sizes()));
    return;
  }
  sum.view({-1}).addmv_(values.reshape({values.size(0), -1}).t(), factors);
}

// values[i] * factors[i]; `values` itself where factors are undefined.
inline torch::Tensor scaled_samples(const torch::Tensor& values, const torch::Tensor& factors) {
  if (!factors.defined()) return values;
  std::vector<std::int64_t> shape(static_cast<std::size_t>(values.dim()), 1);
  shape[0] = values.size(0);
  return values * factors.view(shape);
}

}  // namespace hyfreedp::models
