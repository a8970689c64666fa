// Residual networks with GroupNorm (convnet_shape.h describes the two architectures), and the tanh
// network.
//
// Input: images [B, channels, side, side], or the same numbers as [B, channels * side * side].
// Output: logits [B, classes].
#pragma once

#include "harness/models/facts/convnet_shape.h"
#include "harness/models/networks/network.h"

namespace hyfreedp::models {

Result<Network> make_resnet(const ResnetShape& shape, const torch::TensorOptions& options,
                            const Network::Trainable& trainable);
Result<Network> make_cnn(const CnnShape& shape, const torch::TensorOptions& options,
                         const Network::Trainable& trainable);

}  // namespace hyfreedp::models
