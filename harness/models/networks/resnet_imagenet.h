// ResNets for ImageNet (resnet_imagenet_shape.h describes them). Every convolution has a bias.
// There is no BatchNorm: where weights come from a file, its BatchNorms were folded into the
// convolutions (batch_norm_folding.h).
//
// Input: images [B, 3, side, side], or the same numbers as [B, 3 * side * side]. Output: logits
// [B, classes].
#pragma once

#include "harness/models/facts/resnet_imagenet_shape.h"
#include "harness/models/networks/network.h"

namespace hyfreedp::models {

Result<Network> make_resnet_imagenet(const ResnetImagenetShape& shape, const torch::TensorOptions& options,
                                     const Network::Trainable& trainable);

}  // namespace hyfreedp::models
