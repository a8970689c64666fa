#include "harness/models/samples.h"

#include <ATen/Parallel.h>
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "harness/base/wide.h"
#include "harness/kernels/kernels.h"

namespace hyfreedp::models {
namespace {

// Sixteen running sums, so that the order of additions, and with it every bit, is the same whatever the processor's vectors are;
// blocks are added up in double.
template <class T>
HYFREEDP_WIDE double sum_of_squares(const T* values, std::int64_t count) {
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

// The smallest normal number of float32, and how far above it a sum of squares must be to lack nothing that counts.
constexpr double kTiny = 0x1p-126;
constexpr double kWellAbove = 1e9;

// For products with what may be huge: not too small, however small the values are.
template <class T>
double sure_sum_of_squares(const T* values, std::int64_t count) {
  const double total = sum_of_squares(values, count);
  if (std::is_same_v<T, double> || total > static_cast<double>(count) * kTiny * kWellAbove) return total;
  double sure = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<double>(values[i]);
    sure += value * value;
  }
  return sure;
}

template <class T>
void fill(const torch::Tensor& values, torch::Tensor& norms) {
  const auto size = norms.numel() == 0 ? 0 : values.numel() / norms.numel();
  const T* from = values.const_data_ptr<T>();
  double* to = norms.mutable_data_ptr<double>();
  const auto grain = std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, size));
  at::parallel_for(0, norms.numel(), grain, [=](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) to[i] = sum_of_squares(from + i * size, size);
  });
}

template <class T>
void add_outer(const torch::Tensor& gradients, const torch::Tensor& inputs, double bias,
               torch::Tensor& norms) {
  const auto outputs = gradients.size(1), width = inputs.size(1);
  const T* b = gradients.const_data_ptr<T>();
  const T* a = inputs.const_data_ptr<T>();
  double* to = norms.mutable_data_ptr<double>();
  const auto grain = std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, outputs + width));
  at::parallel_for(0, norms.numel(), grain, [=](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) {
      to[i] +=
          sure_sum_of_squares(b + i * outputs, outputs) * (sure_sum_of_squares(a + i * width, width) + bias);
    }
  });
}

constexpr double kFewErrors = 100;

double relative_error(torch::ScalarType type) { return type == torch::kFloat64 ? 1e-13 : 1e-5; }

}  // namespace

bool has_loops(const torch::Tensor& values) {
  const auto type = values.scalar_type();
  return values.is_cpu() && values.is_contiguous() && (type == torch::kFloat32 || type == torch::kFloat64);
}

double lost_length(std::int64_t n, torch::ScalarType type) {
  return type == torch::kFloat64 ? 0 : std::sqrt(static_cast<double>(n) * kTiny / relative_error(type));
}

torch::Tensor reach_lengths(const torch::Tensor& vectors) {
  return at::linalg_vector_norm(vectors, 2, at::IntArrayRef{-1})
      .to(torch::kFloat64)
      .add_(lost_length(vectors.size(-1), vectors.scalar_type()));
}

double beyond_rounding(double estimate, double reach, torch::ScalarType type) {
  const double error = relative_error(type) * reach;
  return estimate < kFewErrors * error ? std::max(estimate, 0.0) + error : estimate;
}

torch::Tensor beyond_rounding(const torch::Tensor& estimates, const torch::Tensor& reaches,
                              torch::ScalarType type) {
  const auto errors = reaches * relative_error(type);
  return at::where(estimates < errors * kFewErrors, estimates.clamp_min(0) + errors, estimates);
}

torch::Tensor beyond_forming(const torch::Tensor& squared_norms, const torch::Tensor& reaches,
                             torch::ScalarType type) {
  const auto errors = reaches.sqrt().mul_(relative_error(type));
  const auto norms = squared_norms.sqrt();
  // Of inputs beyond the range nothing is known: the sample is left out, as those are whose norm is not finite.
  return at::where((norms >= errors * kFewErrors).logical_and_(at::isfinite(errors)), squared_norms,
                   (norms + errors).square_());
}

// LibTorch's norm over a dimension writes a copy of the values.
torch::Tensor squared_sample_norms(const torch::Tensor& values) {
  const auto type = values.scalar_type();
  if (has_loops(values)) {
    auto norms = torch::empty({values.size(0)}, values.options().dtype(torch::kFloat64));
    (type == torch::kFloat32 ? fill<float> : fill<double>)(values, norms);
    return norms;
  }
  if (values.is_cuda()) {
    auto norms = torch::zeros({values.size(0)}, values.options().dtype(torch::kFloat64));
    kernels::add_row_norms(values.contiguous(), norms);
    return norms;
  }
  return at::linalg_vector_norm(values.flatten(1), 2, at::IntArrayRef{1}).to(torch::kFloat64).square_();
}

void add_outer_norms(const torch::Tensor& gradients, const torch::Tensor& inputs, bool with_bias,
                     torch::Tensor& norms) {
  if (!has_loops(gradients) || !has_loops(inputs) || gradients.scalar_type() != inputs.scalar_type()) {
    const auto type = gradients.scalar_type();
    const auto lost = [&](const torch::Tensor& vectors) {
      return type == torch::kFloat64 ? 0 : static_cast<double>(vectors.size(1)) * kTiny;
    };
    const auto squares = squared_sample_norms(gradients) + lost(gradients);
    norms.addcmul_(squares, squared_sample_norms(inputs) + (lost(inputs) + (with_bias ? 1 : 0)));
    return;
  }
  const double bias = with_bias ? 1 : 0;
  const bool single = gradients.scalar_type() == torch::kFloat32;
  (single ? add_outer<float> : add_outer<double>)(gradients, inputs, bias, norms);
}

}  // namespace hyfreedp::models
