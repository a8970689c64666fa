// When a rule may run as one pass over raw memory: dense CPU vectors of one floating type.
#pragma once

#include <initializer_list>
#include <torch/types.h>

namespace hyfreedp::optimizers {

inline bool can_fuse(std::initializer_list<const torch::Tensor*> tensors) {
  const auto type = (*tensors.begin())->scalar_type();
  if (type != torch::kFloat && type != torch::kDouble) return false;
  for (const auto* tensor : tensors) {
    if (!tensor->is_cpu() || !tensor->is_contiguous() || tensor->scalar_type() != type) return false;
  }
  return true;
}

// The direction's storage, made like the gradient unless it already fits.
inline void shape_like(const torch::Tensor& gradient, torch::Tensor& direction) {
  if (!direction.defined() || direction.numel() != gradient.numel() ||
      direction.scalar_type() != gradient.scalar_type() || direction.device() != gradient.device()) {
    direction = torch::empty_like(gradient);
  }
}

}  // namespace hyfreedp::optimizers
