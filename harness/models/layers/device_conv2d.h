// The rules of a convolution (conv2d.h) as whole-batch operations of LibTorch and of the kernels:
// the form that a GPU runs. They run on a CPU too, where tests compare them with the layer's own
// loops over samples.
#pragma once

#include "harness/models/layers/conv2d.h"

namespace hyfreedp::models {

// The weight gradient dW_i of every sample, transposed:
// [B, groups, in kh kw / groups, out / groups].
torch::Tensor device_weight_gradients(const Conv2dShape& shape, const ActivationRecord& record);

// ||dW_i||^2 from the inner products between places (ghost norm), [B] float64, with the allowance
// for rounding that beyond_rounding() (samples.h) describes.
SquaredNorms device_place_norms(const Conv2dShape& shape, const ActivationRecord& record);

// total += sum_i factors[i] dW_i, from products in float64 (as add_product() of samples.h on a
// GPU).
//   factors  [B]
//   total    [groups, out / groups, in kh kw / groups] float64
void add_device_sum(const Conv2dShape& shape, const ActivationRecord& record, const torch::Tensor& factors,
                    torch::Tensor& total);

}  // namespace hyfreedp::models
