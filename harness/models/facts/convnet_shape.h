// Sizes of the convolutional networks, without LibTorch. `side` is the side of a square image in
// pixels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/models/facts/model_input.h"

namespace hyfreedp::models {

// The tanh network for small images (Papernot et al., arXiv:2007.14191, table 1, and later papers
// on DP-SGD): convolution 8x8 with stride 2 and padding 3; pool 2x2 with stride 1; convolution 4x4
// with stride 2; pool 2x2 with stride 1; two linear layers.
struct CnnShape {
  std::int64_t channels = 1;
  std::int64_t side = 28;
  std::int64_t filters1 = 16;
  std::int64_t filters2 = 32;
  std::int64_t flat = 512;  // number of values after the second pool
  std::int64_t hidden = 32;
  std::int64_t classes = 10;
};
// The sizes on this data. An error if the features are not a square image with the option's
// channels, or if the image is too small.
Result<CnnShape> cnn_shape(const json::object& options, const ModelInput& input);

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
// WRN-depth-widen: (depth - 4) / 6 blocks a stage; the stages have 16, 32 and 64 times `widen`
// channels.
Result<ResnetShape> wide_resnet_shape(const json::object& options, const ModelInput& input);

}  // namespace hyfreedp::models
