// SqueezeNet 1.1 (squeezenet_shape.h describes it). Every convolution has a bias and is followed by
// ReLU; there is no normalisation layer. With the published weights images are expected as
// normalise: imagenet of a dataset gives them (squeezenet_weights.h).
//
// Input: images [B, 3, side, side], or the same numbers as [B, 3 * side * side]. Output: logits
// [B, classes].
#pragma once

#include "harness/models/facts/squeezenet_shape.h"
#include "harness/models/networks/network.h"

namespace hyfreedp::models {

Result<Network> make_squeezenet(const SqueezeNetShape& shape, const torch::TensorOptions& options,
                                const Network::Trainable& trainable);

}  // namespace hyfreedp::models
