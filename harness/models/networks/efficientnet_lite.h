// EfficientNet-Lite: Tan & Le, arXiv:1905.11946, without squeeze-and-excitation and with ReLU6, as
// TensorFlow's authors released it
// (https://github.com/tensorflow/tpu/tree/master/models/official/efficientnet/lite).
//
//   conv_stem            3x3, stride 2
//   blocks.S.B           seven stages of blocks [1x1 that widens six times, depthwise k x k, 1x1];
//                        the first stage's do not widen. The first block of a stage has the
//                        stage's stride; the others add their input to their output
//   conv_head            1x1, then the mean over the places
//   classifier           linear
// Kernels, strides and factors are the family's; widths and numbers of blocks are the size's. Every
// convolution has a bias and is followed by ReLU6, but for a block's last; the padding is
// TensorFlow's "SAME". There is no BatchNorm: where weights come from a file, its BatchNorms were
// folded into the convolutions (weights/batch_norm_folding.h).
//
// Input: images [B, 3, side, side], or the same numbers as [B, 3 * side * side]. Output: logits
// [B, classes]. Initial values: He normal, biases and the head zero. This is ours: its authors'
// BatchNorms are no part of the network.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/models/networks/description.h"

namespace hyfreedp::models {

// Zeros before and after a line of `side` numbers, with which a convolution of this stride has
// ceil(side / stride) outputs (TensorFlow's "SAME"): where their number is odd, one more after.
struct SamePadding {
  std::int64_t before = 0;
  std::int64_t after = 0;
};
SamePadding same_padding(std::int64_t side, std::int64_t kernel, std::int64_t stride);

struct EfficientNetLiteShape {
  static constexpr std::size_t kStages = 7;
  static constexpr std::int64_t kChannels = 3;
  static constexpr std::int64_t kLeastSide = 32;
  static constexpr std::int64_t kStemKernel = 3;
  static constexpr std::int64_t kStemStride = 2;
  // "model_type" in the config.json of a folder that this program kept.
  static constexpr const char* kOwnType = "hyfreedp-efficientnet-lite";

  std::int64_t side = 224;  // of the images, in pixels
  std::int64_t classes = 1000;
  std::int64_t stem = 32;  // channels after conv_stem
  std::array<std::int64_t, kStages> widths{16, 24, 40, 80, 112, 192, 320};
  std::array<std::int64_t, kStages> blocks{1, 2, 2, 3, 3, 4, 1};
  std::int64_t top = 1280;  // channels after conv_head
  // True if the weights file has timm's names, with the BatchNorms bn1, bn2 and bn3.
  bool has_timms_names = false;

  struct Block {
    std::string name;         // "blocks.S.B"
    std::int64_t side = 0;    // of its input
    std::int64_t inputs = 0;  // channels
    std::int64_t hidden = 0;  // of the depthwise convolution
    std::int64_t outputs = 0;
    std::int64_t kernel = 3;
    std::int64_t stride = 1;
    bool widens() const { return hidden != inputs; }
    bool skips() const { return stride == 1 && inputs == outputs; }
    // Names of the convolutions, timm's. `expand` of a block that widens.
    std::string expand() const { return name + ".conv_pw"; }
    std::string depthwise() const { return name + ".conv_dw"; }
    std::string project() const { return name + (widens() ? ".conv_pwl" : ".conv_pw"); }
  };
  std::vector<Block> list_blocks() const;

  // Sizes by name, "efficientnet-lite0". An error that begins with `where` for another name.
  static Result<EfficientNetLiteShape> named(const std::string& name, const std::string& where);
  // Sizes from a weights folder's config.json: {"architecture": "efficientnet_lite0"}, timm's of
  // tf_efficientnet_lite0 (its efficientnet_lite0 pads otherwise), or what model_config()
  // writes. The image is no part of either.
  static Result<EfficientNetLiteShape> from_json(const json::object& config, const std::string& where);
  // Sets `stem`, `widths` and `top` from nine numbers, or `blocks` from seven.
  Result<void> set_widths(const json::array& numbers, const std::string& where);
  Result<void> set_blocks(const json::array& numbers, const std::string& where);
};

Result<graph::Graph> graph_of(const EfficientNetLiteShape& shape, const std::optional<Lora>& lora = {});

json::object model_config(const EfficientNetLiteShape& shape);
// The names of published files.
NormedNetwork normed(const EfficientNetLiteShape& shape);

Facts efficientnet_lite_facts();

}  // namespace hyfreedp::models
