// Sums over everything but the samples, which the layers' rules share.
#pragma once

#include <ATen/Parallel.h>
#include <algorithm>
#include <torch/types.h>

namespace hyfreedp::models {

namespace samples_detail {

// Sixteen running sums, so that the order of additions, and with it every bit, is the same whatever the processor's vectors are;
// blocks are added up in double.
template <class T>
double sum_of_squares(const T* values, std::int64_t count) {
  constexpr std::int64_t kLanes = 16, kBlock = 1024;
  double total = 0;
  for (std::int64_t begin = 0; begin < count; begin += kBlock) {
    const auto end = std::min(count, begin + kBlock);
    T lanes[kLanes] = {};
    auto i = begin;
    for (; i + kLanes <= end; i += kLanes) {
      for (std::int64_t k = 0; k < kLanes; ++k) lanes[k] += values[i + k] * values[i + k];
    }
    for (; i < end; ++i) lanes[i % kLanes] += values[i] * values[i];
    for (const T lane : lanes) total += static_cast<double>(lane);
  }
  return total;
}

template <class T>
void squared_norms(const torch::Tensor& values, torch::Tensor& norms) {
  const auto size = norms.numel() == 0 ? 0 : values.numel() / norms.numel();
  const T* from = values.const_data_ptr<T>();
  double* to = norms.mutable_data_ptr<double>();
  const auto grain = std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, size));
  at::parallel_for(0, norms.numel(), grain, [=](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) to[i] = sum_of_squares(from + i * size, size);
  });
}

}  // namespace samples_detail

// [B, ...] -> [B], float64: sum of squares of each sample's entries. (LibTorch's norm over a dimension writes a copy of them.)
inline torch::Tensor squared_sample_norms(const torch::Tensor& values) {
  const auto type = values.scalar_type();
  if (values.is_cpu() && values.is_contiguous() && (type == torch::kFloat32 || type == torch::kFloat64)) {
    auto norms = torch::empty({values.size(0)}, values.options().dtype(torch::kFloat64));
    (type == torch::kFloat32 ? samples_detail::squared_norms<float>
                             : samples_detail::squared_norms<double>)(values, norms);
    return norms;
  }
  return at::linalg_vector_norm(values.flatten(1), 2, at::IntArrayRef{1}).to(torch::kFloat64).square_();
}

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
