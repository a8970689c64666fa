#include "harness/models/networks/efficientnet_lite.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/models/files/config_keys.h"
#include "harness/models/files/size_lists.h"
#include "harness/models/networks/options.h"
#include "harness/models/networks/requests.h"

namespace hyfreedp::models {
namespace {

using Shape = EfficientNetLiteShape;
using Numbers = std::array<std::int64_t, Shape::kStages>;

// Kernel sizes, strides and expansion factors of the stages, the same for the whole family.
constexpr Numbers kKernels{3, 3, 5, 3, 5, 5, 3};
constexpr Numbers kStrides{1, 2, 2, 2, 1, 2, 1};
constexpr Numbers kFactors{1, 6, 6, 6, 6, 6, 6};

struct Size {
  const char* name;
  const char* architecture;  // in a config.json
  Numbers widths, blocks;
};
constexpr Size kSizes[] = {{"efficientnet-lite0", "efficientnet_lite0", Shape().widths, Shape().blocks}};

// timm's, which pad as TensorFlow does.
constexpr const char* kOfTensorFlow = "tf_";

constexpr const char* kModel = "efficientnet-lite";
constexpr std::int64_t kMostChannels = 65536;
constexpr std::int64_t kMostBlocks = 1000;

Shape of_size(const Size& size) {
  Shape shape;
  shape.widths = size.widths;
  shape.blocks = size.blocks;
  return shape;
}

struct LiteParts {
  graph::Builder& net;

  struct Size {
    std::int64_t side = 0;  // of the input
    std::int64_t inputs = 0;
    std::int64_t outputs = 0;
    std::int64_t kernel = 1;
    std::int64_t stride = 1;
    std::int64_t groups = 1;
  };
  int convolution(const std::string& name, const Size& size, int from) {
    auto padding = same_padding(size.side, size.kernel, size.stride);
    if (padding.before != padding.after) {
      from = net.add(name + ".pad", graph::ZeroPad{padding.before, padding.after}, {from});
      padding = {};
    }
    const Conv2dShape shape{.inputs = size.inputs,
                            .outputs = size.outputs,
                            .kernel = {size.kernel, size.kernel},
                            .stride = {size.stride, size.stride},
                            .padding = {padding.before, padding.before},
                            .groups = size.groups};
    return net.add(name, graph::Convolution{shape, he_normal(shape.reads())}, {from});
  }
  int active(const std::string& name, const Size& size, int from) {
    return net.add(name + ".act", graph::Activation{graph::Activation::Kind::relu6},
                   {convolution(name, size, from)});
  }
  int block(const Shape::Block& block, int from) {
    net.block(block.name);
    int x = from;
    if (block.widens()) {
      x = active(block.expand(), {.side = block.side, .inputs = block.inputs, .outputs = block.hidden}, x);
    }
    x = active(block.depthwise(),
               {.side = block.side,
                .inputs = block.hidden,
                .outputs = block.hidden,
                .kernel = block.kernel,
                .stride = block.stride,
                .groups = block.hidden},
               x);
    x = convolution(block.project(), {.inputs = block.hidden, .outputs = block.outputs}, x);
    return block.skips() ? net.add(block.name + ".add", graph::Add{}, {x, from}) : x;
  }
};

// The keys of model_args.
Keys of_arguments() {
  return keys::joined({keys::of_convolutional_arguments(), keys::harmless("bn_momentum"),
                       keys::only("[0.001]", "bn_eps"), keys::only(R"(["same"])", "pad_type"),
                       keys::only(R"(["relu6"])", "act_layer")});
}

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

// The names in files of the Python package efficientnet-lite-pytorch (_conv_stem,
// _blocks.N._expand_conv, ._depthwise_conv, ._project_conv, _conv_head, _fc).
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

Result<Description> describe(const Request& request) {
  const auto shape = sized<Shape>(request, {{"widths", &Shape::set_widths}, {"blocks", &Shape::set_blocks}});
  if (!shape) return shape.error();
  auto description = description_of(*shape);
  description.published = normed(*shape);
  return description;
}

}  // namespace

SamePadding same_padding(std::int64_t side, std::int64_t kernel, std::int64_t stride) {
  const auto outputs = (side + stride - 1) / stride;
  const auto zeros = std::max<std::int64_t>((outputs - 1) * stride + kernel - side, 0);
  return {zeros / 2, zeros - zeros / 2};
}

std::vector<Shape::Block> Shape::list_blocks() const {
  std::vector<Block> list;
  auto from = stem;
  auto at = (side + kStemStride - 1) / kStemStride;
  for (std::size_t stage = 0; stage < kStages; ++stage) {
    for (std::int64_t i = 0; i < blocks[stage]; ++i) {
      const auto stride = i == 0 ? kStrides[stage] : 1;
      list.push_back({.name = fmt::format("blocks.{}.{}", stage, i),
                      .side = at,
                      .inputs = from,
                      .hidden = from * kFactors[stage],
                      .outputs = widths[stage],
                      .kernel = kKernels[stage],
                      .stride = stride});
      from = widths[stage];
      at = (at + stride - 1) / stride;
    }
  }
  return list;
}

Result<Shape> Shape::named(const std::string& name, const std::string& where) {
  std::vector<std::string> names;
  for (const auto& size : kSizes) {
    if (name == size.name) return of_size(size);
    names.emplace_back(size.name);
  }
  return error(fmt::format("{}: the size '{}' is not known.{} Sizes: {}.", where, name,
                           did_you_mean(name, names), join(names, ", ")));
}

Result<void> Shape::set_widths(const json::array& numbers, const std::string& where) {
  const auto read = sizes_from(numbers, kStages + 2, kMostChannels,
                               where + ": 'widths' (of the stem, of each stage and of the top)");
  if (!read) return read.error();
  stem = read->front();
  std::copy_n(read->begin() + 1, kStages, widths.begin());
  top = read->back();
  return {};
}

Result<void> Shape::set_blocks(const json::array& numbers, const std::string& where) {
  const auto read = sizes_from(numbers, kStages, kMostBlocks, where + ": 'blocks' (of each stage)");
  if (!read) return read.error();
  std::copy_n(read->begin(), kStages, blocks.begin());
  return {};
}

Result<Shape> Shape::from_json(const json::object& config, const std::string& where) {
  if (is_kept(config, kOwnType)) {
    const auto keys = keys_of_model(kModel, keys::of_kept("widths blocks"));
    if (auto known = check_keys(keys, config, where); !known) return known.error();
    Shape shape;
    const auto widths = list_at(config, "widths", where);
    if (!widths) return widths.error();
    const auto blocks = list_at(config, "blocks", where);
    if (!blocks) return blocks.error();
    if (auto set = shape.set_widths(**widths, where); !set) return set.error();
    if (auto set = shape.set_blocks(**blocks, where); !set) return set.error();
    shape.classes = int_or(config, "classes", shape.classes);
    return shape;
  }
  const auto architecture = timm_architecture(config);
  std::vector<std::string> names;
  for (const auto& size : kSizes) {
    const auto of_timm = std::string(kOfTensorFlow) + size.architecture;
    if (architecture == size.architecture || architecture.substr(0, architecture.find('.')) == of_timm) {
      const auto known = timm_arguments(keys_of_model(kModel, of_arguments()), config, where);
      if (!known) return known.error();
      auto shape = of_size(size);
      shape.has_timms_names = architecture != size.architecture;
      return shape;
    }
    names.emplace_back(size.architecture);
    names.push_back(of_timm);
  }
  return unknown_architecture(where, architecture, "EfficientNet-Lite", names, kOwnType);
}

Result<graph::Graph> graph_of(const EfficientNetLiteShape& shape, const std::optional<Lora>& lora) {
  graph::Builder net(lora);
  LiteParts parts{net};
  int x = net.add("image", graph::Unflatten{{Shape::kChannels, shape.side, shape.side}});
  x = parts.active("conv_stem",
                   {.side = shape.side,
                    .inputs = Shape::kChannels,
                    .outputs = shape.stem,
                    .kernel = Shape::kStemKernel,
                    .stride = Shape::kStemStride},
                   x);
  for (const auto& block : shape.list_blocks()) x = parts.block(block, x);
  x = parts.active("conv_head", {.inputs = shape.widths.back(), .outputs = shape.top}, x);
  x = net.add("pool", graph::MeanPlaces{}, {x});
  net.linear("classifier", {.inputs = shape.top, .outputs = shape.classes}, x);
  net.head("classifier");
  return net.finish();
}

NormedNetwork normed(const EfficientNetLiteShape& shape) {
  constexpr double kTensorFlowEps = 1e-3;
  NormedNetwork network{.eps = kTensorFlowEps,
                        .convolutions = packages_convolutions(shape),
                        .head = "classifier",
                        .head_file = "_fc",
                        .head_shape = {shape.classes, shape.top},
                        .refused = "conv_stem.weight",
                        .refusal =
                            "These are the names of timm's efficientnet_lite0, which pads images otherwise "
                            "than the network here. Of timm, tf_efficientnet_lite0 is read."};
  if (!shape.has_timms_names) return network;
  network.convolutions = timms_convolutions(shape);
  network.head_file = network.head;
  network.refused.clear();
  return network;
}

json::object model_config(const EfficientNetLiteShape& shape) {
  auto widths = numbers({shape.widths.begin(), shape.widths.end()});
  widths.insert(widths.begin(), shape.stem);
  widths.push_back(shape.top);
  return {{"model_type", EfficientNetLiteShape::kOwnType},
          {"widths", widths},
          {"blocks", numbers({shape.blocks.begin(), shape.blocks.end()})},
          {"classes", shape.classes}};
}

Facts efficientnet_lite_facts() {
  return {.name = kModel,
          .title = "EfficientNet-Lite",
          .source = "Tan & Le, arXiv:1905.11946, and TensorFlow's Lite variant; names of timm",
          .options = with_published(
              {plain_option("size", "efficientnet-lite0 (the default, unless other sizes are given)"),
               count("widths", 65536, "channels of the stem, of the seven stages and of the top"),
               count("blocks", 1000, "blocks of each of the seven stages")},
              "pytorch_model.bin as published"),
          .microbatch = 32,
          .example = {.dataset = "synthetic-images",
                      .dataset_options = small_colour_images(34),
                      .options = {{"widths", json::array{4, 3, 4, 4, 5, 4, 4, 5, 12}},
                                  {"blocks", json::array{1, 2, 1, 1, 1, 1, 1}}}},
          .normalise = "half",
          .describe = describe};
}

}  // namespace hyfreedp::models
