// Operations on vectors that several rules share.
#pragma once

#include <cmath>
#include <initializer_list>
#include <limits>
#include <torch/types.h>

namespace hyfreedp::optimizers {

// Dense vectors of one floating type, float32 or float64, on devices that `fits` accepts.
template <class Fits>
bool are_dense(std::initializer_list<const torch::Tensor*> tensors, Fits fits) {
  const auto type = (*tensors.begin())->scalar_type();
  if (type != torch::kFloat && type != torch::kDouble) return false;
  for (const auto* tensor : tensors) {
    if (!fits(*tensor) || !tensor->is_contiguous() || tensor->scalar_type() != type) return false;
  }
  return true;
}

// True if a rule may run as one pass over raw memory.
inline bool can_fuse(std::initializer_list<const torch::Tensor*> tensors) {
  return are_dense(tensors, [](const torch::Tensor& tensor) { return tensor.is_cpu(); });
}

// True if a rule may run as one of the kernels in harness/kernels.
inline bool can_run_on_device(std::initializer_list<const torch::Tensor*> tensors) {
  return are_dense(tensors, [](const torch::Tensor& tensor) { return tensor.is_cuda(); });
}

// The direction's storage, made like the gradient unless it already fits.
inline void shape_like(const torch::Tensor& gradient, torch::Tensor& direction) {
  if (!direction.defined() || direction.numel() != gradient.numel() ||
      direction.scalar_type() != gradient.scalar_type() || direction.device() != gradient.device()) {
    direction = torch::empty_like(gradient);
  }
}

// A factor for tensor operations on `vector`. These operations throw if a finite factor is outside
// the vector's type; this function makes it infinite instead, as the vector's own arithmetic would.
inline double factor_for(const torch::Tensor& vector, double factor) {
  const bool narrow = vector.scalar_type() == torch::kFloat;
  if (narrow && std::abs(factor) > double(std::numeric_limits<float>::max())) {
    return std::copysign(std::numeric_limits<double>::infinity(), factor);
  }
  return factor;
}

}  // namespace hyfreedp::optimizers
