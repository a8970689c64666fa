// The sizes of the convolutional networks, without LibTorch. `side`: pixels of a square image.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/models/model_input.h"

namespace hyfreedp::models {

// Places of the tanh network for small images (Papernot et al., arXiv:2007.14191, table 1, and DP-SGD papers since):
// convolution 8x8, stride 2, padding 3; pool 2x2, stride 1; convolution 4x4, stride 2; pool 2x2, stride 1; two linear layers.
struct CnnShape {
  std::int64_t channels = 1;
  std::int64_t side = 28;
  std::int64_t filters1 = 16;
  std::int64_t filters2 = 32;
  std::int64_t flat = 512;  // values after the second pool
  std::int64_t hidden = 32;
  std::int64_t classes = 10;
};
// An error where the features are no square image of the option's channels, or one too small.
Result<CnnShape> cnn_shape(const json::object& options, const ModelInput& input);

// Residual networks with GroupNorm in the place of BatchNorm.
//   plain   (He et al., arXiv:1512.03385) convolution 3x3, norm, ReLU; stages of blocks [conv, norm, ReLU, conv, norm] + shortcut,
//           ReLU; the shortcut is a 1x1 convolution and a norm where the size changes
//   wide    (Zagoruyko & Komodakis, arXiv:1605.07146; privately De et al., arXiv:2204.13650) convolution 3x3; stages of blocks
//           [norm, ReLU, conv, norm, ReLU, conv] + shortcut, a 1x1 convolution of the first ReLU where the size changes; norm, ReLU;
//           weight-standardised convolutions without bias
// Stages after the first halve the image; mean over the places; linear layer "fc".
struct ResnetShape {
  std::int64_t channels = 3;
  std::int64_t side = 32;
  std::int64_t stem = 16;            // channels after the first convolution
  std::vector<std::int64_t> widths;  // channels of each stage
  std::int64_t blocks = 1;           // of each stage
  std::int64_t groups = 16;          // of every GroupNorm
  bool wide = false;
  std::int64_t classes = 10;
};
Result<ResnetShape> resnet_shape(const json::object& options, const ModelInput& input);
// WRN-depth-widen: (depth - 4) / 6 blocks a stage, widths 16, 32, 64 times widen.
Result<ResnetShape> wide_resnet_shape(const json::object& options, const ModelInput& input);

}  // namespace hyfreedp::models
