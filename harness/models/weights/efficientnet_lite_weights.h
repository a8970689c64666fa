// EfficientNet-Lite's published weights as this program's network has them: without BatchNorm
// (batch_norm_folding.h).
//
// The files are PyTorch state dicts with the names of the Python package efficientnet-lite-pytorch:
// _conv_stem, _blocks.N._expand_conv, ._depthwise_conv, ._project_conv, _conv_head, _fc, and beside
// each convolution a BatchNorm.
#pragma once

#include "harness/models/facts/efficientnet_lite_shape.h"
#include "harness/models/weights/weights.h"

namespace hyfreedp::models {

// Weights, biases and errors as of fold_batch_norms(). `with_head`: the file's classifier too.
Result<NamedTensors> folded_efficientnet_lite(const EfficientNetLiteShape& shape, const NamedTensors& file,
                                              bool with_head);

}  // namespace hyfreedp::models
