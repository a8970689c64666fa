// EfficientNet-Lite's published weights as this program's network has them: without BatchNorm.
//
// The files are PyTorch state dicts with the names of the Python package efficientnet-lite-pytorch:
// _conv_stem, _blocks.N._expand_conv, ._depthwise_conv, ._project_conv, _conv_head, _fc, and beside
// each convolution a BatchNorm. With its fixed statistics a BatchNorm is an affine map of each
// channel, y = gamma (x - mean) / sqrt(var + 1e-3) + beta. It is multiplied into the convolution
// before any private datum is seen; what trains afterwards mixes no samples.
#pragma once

#include "harness/models/facts/efficientnet_lite_shape.h"
#include "harness/models/weights/weights.h"

namespace hyfreedp::models {

// Weights and biases under the network's names, float64. `with_head`: the file's classifier too.
// An error that lists all missing, unexpected and misshaped tensors by the file's names, or that
// names a BatchNorm with a negative variance. num_batches_tracked is ignored.
Result<NamedTensors> folded_efficientnet_lite(const EfficientNetLiteShape& shape, const NamedTensors& file,
                                              bool with_head);

}  // namespace hyfreedp::models
