// ConvNeXt (Liu et al., arXiv:2201.03545) with the names of timm.
//
//   stem           4x4 convolution with stride 4, LayerNorm over the channels
//   stages.S       four stages of blocks. Before a stage after the first, `downsample`: LayerNorm,
//                  2x2 convolution with stride 2
//   stages.S.blocks.B   7x7 depthwise convolution, LayerNorm, and at each place a linear layer that
//                  widens four times, GELU and a linear layer back; `gamma` scales what is added to
//                  the block's input
//   head           mean over the places, LayerNorm, a linear layer
// Pixels and places at the right and lower edge that fill no stride are left out. Between the
// layers an image's places are a sequence of tokens, as LayerNorm and the linear layers read them;
// the convolutions read them as an image.
//
// Input: images [B, 3, side, side], or the same numbers as [B, 3 * side * side]. Output: logits
// [B, classes]. Initial values are timm's: convolutions and linear layers truncated normal 0.02,
// `gamma` 1e-6.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "harness/models/networks/description.h"

namespace hyfreedp::models {

struct ConvnextShape {
  static constexpr std::size_t kStages = 4;
  static constexpr std::int64_t kChannels = 3;
  static constexpr std::int64_t kLeastSide = 32;
  static constexpr std::int64_t kStemKernel = 4;
  static constexpr std::int64_t kDownsampleKernel = 2;
  static constexpr std::int64_t kBlockKernel = 7;
  static constexpr std::int64_t kWidening = 4;

  std::int64_t side = 224;  // of the images, in pixels
  std::int64_t classes = 1000;
  std::array<std::int64_t, kStages> widths{96, 192, 384, 768};  // channels of each stage
  std::array<std::int64_t, kStages> blocks{3, 3, 9, 3};         // of each stage

  // Places a side in a stage.
  std::int64_t stage_side(std::size_t stage) const;
  std::int64_t features() const { return widths.back(); }

  // Sizes by name, "convnext_tiny". An error that begins with `where` for another name.
  static Result<ConvnextShape> named(const std::string& name, const std::string& where);
  // Sizes from timm's config.json: `architecture`, a name as above, changed by `model_args`. The
  // image is no part of it.
  static Result<ConvnextShape> from_json(const json::object& config, const std::string& where);
  // Sets `widths` or `blocks` from four numbers.
  Result<void> set_widths(const json::array& numbers, const std::string& where);
  Result<void> set_blocks(const json::array& numbers, const std::string& where);
};

Result<graph::Graph> graph_of(const ConvnextShape& shape, const std::optional<Lora>& lora = {});

json::object model_config(const ConvnextShape& shape);

Facts convnext_facts();

}  // namespace hyfreedp::models
