// EfficientNet-Lite (efficientnet_lite_shape.h describes it). Every convolution has a bias and is
// followed by ReLU6, but for a block's last; the padding is TensorFlow's "SAME". There is no
// BatchNorm: where weights come from a file, its BatchNorms were folded into the convolutions
// (batch_norm_folding.h).
//
// Input: images [B, 3, side, side], or the same numbers as [B, 3 * side * side]. Output: logits
// [B, classes].
#pragma once

#include "harness/models/facts/efficientnet_lite_shape.h"
#include "harness/models/networks/network.h"

namespace hyfreedp::models {

Result<Network> make_efficientnet_lite(const EfficientNetLiteShape& shape,
                                       const torch::TensorOptions& options,
                                       const Network::Trainable& trainable);

}  // namespace hyfreedp::models
