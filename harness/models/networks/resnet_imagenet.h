// ResNets for ImageNet: He et al., arXiv:1512.03385, table 1, with the stride of a bottleneck on
// its 3x3 convolution, as torchvision and timm have it.
//
//   conv1          7x7, stride 2, ReLU; then the largest of 3x3 places, stride 2
//   layerS.B       four stages of blocks, whose output is added to their input before a last ReLU.
//                  basic: two 3x3. bottleneck: 1x1, 3x3, and a 1x1 that widens four times. The
//                  first block of a stage after the first halves the image
//   downsample.0   in a block whose input and output differ: a 1x1 with the block's stride, beside
//                  it
//   fc             linear, of the mean over the places
// Zeros lie around every image, kernel / 2 of them at each side.
//
// The ResNets of section 4.2 for CIFAR (resnet20, resnet32, resnet44, resnet56) have three stages
// of basic blocks after a 3x3 conv1 without stride, and no pool. Their shortcuts are convolutions,
// too.
//
// Every convolution has a bias. There is no BatchNorm: where weights come from a file, its
// BatchNorms were folded into the convolutions (weights/batch_norm_folding.h).
//
// Input: images [B, 3, side, side], or the same numbers as [B, 3 * side * side]. Output: logits
// [B, classes]. Initial values: He normal, divided by the root of the number of blocks in the last
// convolution of each, so that their sum keeps its size; biases and the head zero. This is ours:
// its authors' BatchNorms are no part of the network.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/models/networks/description.h"

namespace hyfreedp::models {

struct ResnetImagenetShape {
  static constexpr std::int64_t kChannels = 3;
  static constexpr std::int64_t kLeastSide = 32;
  static constexpr std::int64_t kPoolKernel = 3;
  static constexpr std::int64_t kPoolStride = 2;
  // "model_type" in the config.json of a folder that this program kept.
  static constexpr const char* kOwnType = "hyfreedp-resnet-imagenet";

  enum class Kind { basic, bottleneck };
  static constexpr const char* kBasic = "basic";
  static constexpr const char* kBottleneck = "bottleneck";

  std::int64_t side = 224;  // of the images, in pixels
  std::int64_t classes = 1000;
  bool for_cifar = false;
  Kind kind = Kind::basic;
  std::int64_t stem = 64;  // channels after conv1
  // Channels of each stage's 3x3 convolutions.
  std::vector<std::int64_t> widths{64, 128, 256, 512};
  std::vector<std::int64_t> blocks{2, 2, 2, 2};

  struct Convolution {
    std::string name;       // torchvision's
    std::string norm;       // the BatchNorm that reads what it gives, in a published file
    std::int64_t side = 0;  // of its input
    std::int64_t inputs = 0;
    std::int64_t outputs = 0;
    std::int64_t kernel = 1;
    std::int64_t stride = 1;
    std::int64_t side_after() const { return (side - 1) / stride + 1; }
  };
  struct Block {
    std::string name;  // "layerS.B"
    // One after another, with a ReLU between them.
    std::vector<Convolution> convolutions;
    std::optional<Convolution> shortcut;
  };
  Convolution stem_convolution() const;
  std::vector<Block> list_blocks() const;
  // The convolutions in the order of a file: conv1, then each block's, its shortcut last.
  std::vector<Convolution> list_convolutions() const;
  // The side of the first stage's input, in pixels.
  std::int64_t stem_side() const;
  // Channels after a stage of that width; after the last, what the head reads.
  std::int64_t widened(std::int64_t width) const { return kind == Kind::bottleneck ? 4 * width : width; }
  std::int64_t features() const { return widened(widths.back()); }

  // Sizes by name, "resnet18". An error that begins with `where` for another name.
  static Result<ResnetImagenetShape> named(const std::string& name, const std::string& where);
  // Sizes from a weights folder's config.json: {"architecture": "resnet18"}, as timm writes it, or
  // what model_config() writes. The image is no part of either.
  static Result<ResnetImagenetShape> from_json(const json::object& config, const std::string& where);
  // Sets `stem` and `widths`, `blocks`, of four stages or of three (for_cifar), or `kind` from its
  // name.
  Result<void> set_widths(const json::array& numbers, const std::string& where);
  Result<void> set_blocks(const json::array& numbers, const std::string& where);
  Result<void> set_kind(const std::string& name, const std::string& where);
};

Result<graph::Graph> graph_of(const ResnetImagenetShape& shape, const std::optional<Lora>& lora = {});

json::object model_config(const ResnetImagenetShape& shape);
// The names of published files.
NormedNetwork normed(const ResnetImagenetShape& shape);

Facts resnet_imagenet_facts();

}  // namespace hyfreedp::models
