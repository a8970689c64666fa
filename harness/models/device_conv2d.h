// The rules of a convolution (conv2d.h) in whole-batch operations of LibTorch and the kernels: what a GPU runs, where walking
// through memory sample by sample is not possible. They run on a CPU too, where tests hold them against the layer's own path.
#pragma once

#include "harness/models/conv2d.h"

namespace hyfreedp::models {

// dW_i of every sample, transposed: [B, groups, in kh kw / groups, out / groups].
torch::Tensor device_weight_gradients(const Conv2dShape& shape, const ActivationRecord& record);

// ||dW_i||^2 by the places' inner products, [B] float64, never too small (beyond_rounding, samples.h).
torch::Tensor device_place_norms(const Conv2dShape& shape, const ActivationRecord& record);

}  // namespace hyfreedp::models
