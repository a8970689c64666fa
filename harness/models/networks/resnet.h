// Residual networks with GroupNorm in the place of BatchNorm.
//   plain   (He et al., arXiv:1512.03385) convolution 3x3, norm, ReLU; then stages of blocks
//           [conv, norm, ReLU, conv, norm] + shortcut, ReLU. Where the size changes, the shortcut
//           is a 1x1 convolution and a norm
//   wide    (Zagoruyko & Komodakis, arXiv:1605.07146; privately De et al., arXiv:2204.13650)
//           convolution 3x3; then stages of blocks [norm, ReLU, conv, norm, ReLU, conv] + shortcut.
//           Where the size changes, the shortcut is a 1x1 convolution of the first ReLU; at the end
//           norm, ReLU. Convolutions are weight-standardised, without bias
// Every stage after the first halves the image. Then comes the mean over the places and a linear
// layer "fc".
//
// Input: images [B, channels, side, side], or the same numbers as [B, channels * side * side].
// Output: logits [B, classes]. Initial values: He normal, norms 1 and 0, the last layer zero.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/models/networks/description.h"

namespace hyfreedp::models {

struct ResnetShape {
  std::int64_t channels = 3;
  std::int64_t side = 32;
  std::int64_t stem = 16;            // channels after the first convolution
  std::vector<std::int64_t> widths;  // channels of each stage
  std::int64_t blocks = 0;           // of each stage
  std::int64_t groups = 0;           // of every GroupNorm
  bool wide = false;
  std::int64_t classes = 10;
};
Result<graph::Graph> graph_of(const ResnetShape& shape, const std::optional<Lora>& lora = {});

json::object model_config(const ResnetShape& shape);

Facts resnet_facts();
Facts wide_resnet_facts();  // "wrn-16-4"

}  // namespace hyfreedp::models
