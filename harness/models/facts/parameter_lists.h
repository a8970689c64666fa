// The tensors of each network in the network's own order (blueprint.h). Initial values are those of
// the architecture's authors:
//   fully connected, cnn   He normal; the last layer is zero by default
//   residual networks      He normal, norms 1 and 0, the last layer zero
//   EfficientNet-Lite   He normal, biases and the head zero. This is ours: its authors' BatchNorms
//             are no part of the network
//   SqueezeNet   He normal (torchvision's is uniform with the same deviation), biases and a linear
//             head zero. A head that is a convolution comes from a file only
//   ResNet for ImageNet   He normal, divided by the root of the number of blocks in the last
//             convolution of each, so that their sum keeps its size; biases and the head zero. This
//             is ours: its authors' BatchNorms are no part of the network
//   ConvNeXt  as timm: convolutions and linear layers truncated normal 0.02, `gamma` 1e-6
//   ViT       as timm: linear layers and positions truncated normal 0.02, class token normal 1e-6,
//             patches uniform 1/sqrt(inputs)
//   BEiT      as timm: as ViT, but the class token truncated normal 0.02, projections into the
//             residual stream 0.02 / sqrt(2 i) in block i = 1, 2, ..., the head 2e-5, biases of
//             attention 0, layer scale as the size has it
//   GPT-2     normal 0.02, projections into the residual stream 0.02 / sqrt(2 depth)
//             (Radford et al., 2019)
//   Llama     normal 0.02
//   LoRA      A uniform 1/sqrt(inputs) (Kaiming with slope sqrt(5)), B zero, so that training
//             starts at the base model
#pragma once

#include "harness/models/facts/blueprint.h"

namespace hyfreedp::models {

// Sets parameters, blocks and head from the blueprint's shape and adapter. An error if the adapter
// has no target.
Result<void> list_parameters(Blueprint& blueprint);

}  // namespace hyfreedp::models
