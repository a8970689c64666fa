// Per-sample weight gradients of a depthwise convolution on the CPU: each channel has a filter of
// its own, so dW_i has kh kw numbers a channel and is always formed.
//
// The kernels of patch_kernel.h hold a group's outputs in a vector register, and a group has one
// here. These loops go along the lines of the output instead.
#pragma once

#include "harness/models/layers/conv2d.h"

namespace hyfreedp::models {

// True if every channel is a group.
inline bool is_depthwise(const Conv2dShape& shape) {
  return shape.groups > 1 && shape.groups == shape.inputs && shape.groups == shape.outputs;
}

// each [B, channels, kh kw, 1] += dW_i of this application. float32 and float64 on the CPU. Each
// column's products are added up over the lines, and the columns in float64.
void add_depthwise_gradients(const Conv2dShape& shape, const ActivationRecord& record, torch::Tensor& each);

}  // namespace hyfreedp::models
