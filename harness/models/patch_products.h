// Per-sample weight gradients of a convolution on the CPU, and their squared norms, without the patches and, for the norms alone,
// without the gradients: patch_kernel.h says how.
#pragma once

#include <span>

#include "harness/models/conv2d.h"
#include "harness/models/patch_kernel.h"

namespace hyfreedp::models {

// norms [B], float64, += ||dW_i||^2 over all applications; samples in parallel. float32 and float64, on the CPU.
//   gradients   null, or [B, groups, in kh kw / groups, out / groups], which gets dW_i
void add_patch_norms(const Conv2dShape& shape, std::span<const ActivationRecord> records,
                     torch::Tensor& norms, torch::Tensor* gradients = nullptr);

// The same by a kernel of one's choice, which tests compare.
template <class T>
void add_patch_norms_by(const PatchKernel<T>& kernel, const Conv2dShape& shape,
                        std::span<const ActivationRecord> records, torch::Tensor& norms,
                        torch::Tensor* gradients);

}  // namespace hyfreedp::models
