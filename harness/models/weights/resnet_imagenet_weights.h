// ResNets' published weights as this program's network has them: without BatchNorm
// (batch_norm_folding.h).
//
// The files have the names of torchvision, which are timm's too: conv1, bn1, layer1.0.conv1,
// layer1.0.bn1, ..., layer2.0.downsample.0 and .1 (a convolution and its BatchNorm), fc.
#pragma once

#include "harness/models/facts/resnet_imagenet_shape.h"
#include "harness/models/weights/weights.h"

namespace hyfreedp::models {

// Whether a file has BatchNorms; one that this program kept has none.
bool has_batch_norms(const NamedTensors& file);
// Weights, biases and errors as of fold_batch_norms(). `with_head`: the file's `fc` too.
Result<NamedTensors> folded_resnet_imagenet(const ResnetImagenetShape& shape, const NamedTensors& file,
                                            bool with_head);

}  // namespace hyfreedp::models
