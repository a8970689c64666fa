// Per-sample weight gradients of a convolution on the CPU, and their squared norms, without storing
// patches; for norms alone the gradients are not stored either (patch_kernel.h).
#pragma once

#include <span>

#include "harness/models/layers/conv2d.h"
#include "harness/models/products/patch_kernel.h"

namespace hyfreedp::models {

// norms[i] += ||dW_i||^2, norms [B] float64, where dW_i is the sum over all records. Runs over the
// samples in parallel. float32 and float64 on the CPU. `gradients` is null, or
// [B, groups, in kh kw / groups, out / groups], to which dW_i is written.
void add_patch_norms(const Conv2dShape& shape, std::span<const ActivationRecord> records,
                     torch::Tensor& norms, torch::Tensor* gradients = nullptr);

// The same by a given kernel, for tests that compare kernels.
template <class T>
void add_patch_norms_by(const PatchKernel<T>& kernel, const Conv2dShape& shape,
                        std::span<const ActivationRecord> records, torch::Tensor& norms,
                        torch::Tensor* gradients);

}  // namespace hyfreedp::models
