#include "harness/models/weights/efficientnet_lite_weights.h"

#include <fmt/format.h>
#include <set>

#include "harness/models/weights/misfits.h"

namespace hyfreedp::models {
namespace {

using Sizes = std::vector<std::int64_t>;

constexpr double kBatchNormEps = 1e-3;

struct Convolution {
  std::string name;  // in the network
  std::string file;  // in the file
  std::string norm;  // the file's BatchNorm after it
  Sizes shape;       // of its weight
};

std::vector<Convolution> convolutions(const EfficientNetLiteShape& shape) {
  const auto kernel = EfficientNetLiteShape::kStemKernel;
  std::vector<Convolution> list{
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

// What the file must have, with shapes.
std::map<std::string, Sizes> expected(const EfficientNetLiteShape& shape,
                                      const std::vector<Convolution>& convolutions, bool with_head) {
  std::map<std::string, Sizes> tensors;
  for (const auto& one : convolutions) {
    tensors[one.file + ".weight"] = one.shape;
    for (const char* part : {".weight", ".bias", ".running_mean", ".running_var"})
      tensors[one.norm + part] = {one.shape.front()};
  }
  if (!with_head) return tensors;
  tensors["_fc.weight"] = {shape.classes, shape.top};
  tensors["_fc.bias"] = {shape.classes};
  return tensors;
}

}  // namespace

Result<NamedTensors> folded_efficientnet_lite(const EfficientNetLiteShape& shape, const NamedTensors& file,
                                              bool with_head) {
  const auto list = convolutions(shape);
  const auto wanted = expected(shape, list, with_head);
  Misfits misfits;
  misfits.compare(file, wanted, [with_head](const std::string& name) {
    return name.ends_with(".num_batches_tracked") || (!with_head && name.starts_with("_fc."));
  });
  if (auto fits = misfits.result(); !fits) return fits.error();

  const auto wide = [&](const std::string& name) { return file.at(name).to(torch::kFloat64); };
  NamedTensors folded;
  for (const auto& one : list) {
    const auto variance = wide(one.norm + ".running_var");
    if (!(variance >= 0).all().item<bool>()) {
      return error(one.norm + ".running_var: a variance is negative or not a number.");
    }
    const auto scale = wide(one.norm + ".weight") / (variance + kBatchNormEps).sqrt();
    folded[one.name + ".weight"] = wide(one.file + ".weight") * scale.view({-1, 1, 1, 1});
    folded[one.name + ".bias"] = wide(one.norm + ".bias") - wide(one.norm + ".running_mean") * scale;
  }
  if (with_head) {
    folded["classifier.weight"] = wide("_fc.weight");
    folded["classifier.bias"] = wide("_fc.bias");
  }
  for (const auto& [name, values] : folded) {
    if (!at::isfinite(values).all().item<bool>()) {
      return error(name + ": after folding, a value is infinite or not a number.");
    }
  }
  return folded;
}

}  // namespace hyfreedp::models
