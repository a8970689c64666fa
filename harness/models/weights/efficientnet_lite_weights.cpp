#include "harness/models/weights/efficientnet_lite_weights.h"

#include <fmt/format.h>

#include "harness/models/weights/batch_norm_folding.h"

namespace hyfreedp::models {
namespace {

constexpr double kBatchNormEps = 1e-3;

std::vector<NormedConvolution> convolutions(const EfficientNetLiteShape& shape) {
  const auto kernel = EfficientNetLiteShape::kStemKernel;
  std::vector<NormedConvolution> list{
      {"conv_stem", "_conv_stem", "_bn0", {shape.stem, EfficientNetLiteShape::kChannels, kernel, kernel}}};
  int number = 0;
  for (const auto& block : shape.list_blocks()) {
    const auto file = fmt::format("_blocks.{}.", number++);
    if (block.widens()) {
      list.push_back(
          {block.expand(), file + "_expand_conv", file + "_bn0", {block.hidden, block.inputs, 1, 1}});
    }
    list.push_back({block.depthwise(),
                    file + "_depthwise_conv",
                    file + "_bn1",
                    {block.hidden, 1, block.kernel, block.kernel}});
    list.push_back(
        {block.project(), file + "_project_conv", file + "_bn2", {block.outputs, block.hidden, 1, 1}});
  }
  list.push_back({"conv_head", "_conv_head", "_bn1", {shape.top, shape.widths.back(), 1, 1}});
  return list;
}

}  // namespace

Result<NamedTensors> folded_efficientnet_lite(const EfficientNetLiteShape& shape, const NamedTensors& file,
                                              bool with_head) {
  const NormedNetwork network{.eps = kBatchNormEps,
                              .convolutions = convolutions(shape),
                              .head = "classifier",
                              .head_file = "_fc",
                              .head_shape = {shape.classes, shape.top}};
  return fold_batch_norms(network, file, with_head);
}

}  // namespace hyfreedp::models
