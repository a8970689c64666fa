#include "harness/models/facts/published_tensors.h"

#include <algorithm>
#include <fmt/format.h>

namespace hyfreedp::models {
namespace {

constexpr double kTensorFlowEps = 1e-3;
constexpr double kPyTorchEps = 1e-5;

// Names as timm's file and this network have them, with the BatchNorms beside.
std::vector<NormedConvolution> timms_convolutions(const EfficientNetLiteShape& shape) {
  std::vector<NormedConvolution> list;
  const auto add = [&](const std::string& name, const std::string& norm, std::vector<std::int64_t> sizes) {
    list.push_back({name, name, norm, std::move(sizes)});
  };
  const auto kernel = EfficientNetLiteShape::kStemKernel;
  add("conv_stem", "bn1", {shape.stem, EfficientNetLiteShape::kChannels, kernel, kernel});
  for (const auto& block : shape.list_blocks()) {
    int number = 1;
    const auto next = [&] { return fmt::format("{}.bn{}", block.name, number++); };
    if (block.widens()) add(block.expand(), next(), {block.hidden, block.inputs, 1, 1});
    add(block.depthwise(), next(), {block.hidden, 1, block.kernel, block.kernel});
    add(block.project(), next(), {block.outputs, block.hidden, 1, 1});
  }
  add("conv_head", "bn2", {shape.top, shape.widths.back(), 1, 1});
  return list;
}

std::vector<NormedConvolution> packages_convolutions(const EfficientNetLiteShape& shape) {
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

NormedNetwork normed(const EfficientNetLiteShape& shape) {
  const bool timm = shape.has_timms_names;
  return {.eps = kTensorFlowEps,
          .convolutions = timm ? timms_convolutions(shape) : packages_convolutions(shape),
          .head = "classifier",
          .head_file = timm ? "classifier" : "_fc",
          .head_shape = {shape.classes, shape.top}};
}

NormedNetwork normed(const ResnetImagenetShape& shape) {
  NormedNetwork network{.eps = kPyTorchEps,
                        .convolutions = {},
                        .head = "fc",
                        .head_file = "fc",
                        .head_shape = {shape.classes, shape.features()}};
  for (const auto& one : shape.list_convolutions()) {
    network.convolutions.push_back(
        {one.name, one.name, one.norm, {one.outputs, one.inputs, one.kernel, one.kernel}});
  }
  return network;
}

std::vector<CaffeConvolution> caffe_convolutions(const SqueezeNetShape& shape, bool with_head) {
  std::vector<CaffeConvolution> list{
      {"features.0", kCaffeFirst, SqueezeNetShape::kStemKernel, SqueezeNetShape::kChannels, shape.stem}};
  int number = 2;
  for (const auto& module : shape.list_modules()) {
    const auto file = fmt::format("fire{}/", number++);
    list.push_back({module.squeezing(), file + "squeeze1x1", 1, module.inputs, module.squeeze});
    list.push_back({module.small(), file + "expand1x1", 1, module.squeeze, module.branch});
    list.push_back({module.large(), file + "expand3x3", 3, module.squeeze, module.branch});
  }
  if (with_head) list.push_back({"classifier.1", kCaffeHead, 1, shape.features(), shape.classes});
  return list;
}

bool has_batch_norms(const TensorShapes& file) {
  return std::ranges::any_of(file, [](const auto& one) { return one.first.ends_with(".running_var"); });
}

bool has_caffe_names(const TensorShapes& file) { return file.contains(std::string(kCaffeFirst) + ".0"); }

Result<void> check_normed(const NormedNetwork& network, const TensorShapes& file, bool with_head) {
  TensorShapes wanted;
  for (const auto& one : network.convolutions) {
    wanted[one.file + ".weight"] = one.shape;
    for (const char* part : {".weight", ".bias", ".running_mean", ".running_var"})
      wanted[one.norm + part] = {one.shape.front()};
  }
  if (with_head) {
    wanted[network.head_file + ".weight"] = network.head_shape;
    wanted[network.head_file + ".bias"] = {network.head_shape.front()};
  }
  Misfits misfits;
  misfits.compare(file, wanted, [&](const std::string& name) {
    return name.ends_with(".num_batches_tracked") ||
           (!with_head && name.starts_with(network.head_file + "."));
  });
  return misfits.result();
}

Result<void> check_caffe(const SqueezeNetShape& shape, const TensorShapes& file, bool with_head) {
  TensorShapes wanted;
  for (const auto& one : caffe_convolutions(shape, with_head)) {
    wanted[one.file + ".0"] = {one.kernel, one.kernel, one.inputs, one.outputs};
    wanted[one.file + ".1"] = {one.outputs};
  }
  Misfits misfits;
  misfits.compare(file, wanted, [with_head](const std::string& name) {
    return !with_head && name.starts_with(std::string(kCaffeHead) + ".");
  });
  return misfits.result();
}

}  // namespace hyfreedp::models
