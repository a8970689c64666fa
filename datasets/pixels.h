// How bytes of images become the numbers that a network reads.
#pragma once

#include <torch/types.h>

#include "datasets/image_options.h"

namespace hyfreedp::datasets {

// [n, p] uint8, channels in order -> [n, p] of `type` on the same device.
torch::Tensor scaled(const torch::Tensor& bytes, const PixelScale& scale, torch::ScalarType type);

}  // namespace hyfreedp::datasets
