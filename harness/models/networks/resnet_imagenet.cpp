#include "harness/models/networks/resnet_imagenet.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/models/files/config_keys.h"
#include "harness/models/files/size_lists.h"
#include "harness/models/networks/options.h"
#include "harness/models/networks/requests.h"

namespace hyfreedp::models {
namespace {

using Shape = ResnetImagenetShape;

struct Size {
  const char* name;  // here and in a config.json
  Shape::Kind kind;
  std::vector<std::int64_t> blocks;
  bool for_cifar = false;
};
const Size kSizes[] = {{"resnet18", Shape::Kind::basic, {2, 2, 2, 2}},
                       {"resnet34", Shape::Kind::basic, {3, 4, 6, 3}},
                       {"resnet50", Shape::Kind::bottleneck, {3, 4, 6, 3}},
                       {"resnet101", Shape::Kind::bottleneck, {3, 4, 23, 3}},
                       {"resnet152", Shape::Kind::bottleneck, {3, 8, 36, 3}},
                       {"resnet20", Shape::Kind::basic, {3, 3, 3}, true},
                       {"resnet32", Shape::Kind::basic, {5, 5, 5}, true},
                       {"resnet44", Shape::Kind::basic, {7, 7, 7}, true},
                       {"resnet56", Shape::Kind::basic, {9, 9, 9}, true}};

constexpr const char* kModel = "resnet-imagenet";
constexpr std::int64_t kMostChannels = 65536;
constexpr std::int64_t kMostBlocks = 1000;

std::vector<std::string> names_of_sizes() {
  std::vector<std::string> names;
  for (const auto& size : kSizes) names.emplace_back(size.name);
  return names;
}

std::optional<Shape> find_size(const std::string& name) {
  for (const auto& size : kSizes) {
    if (name != size.name) continue;
    Shape shape;
    shape.kind = size.kind;
    shape.blocks = size.blocks;
    if (size.for_cifar) {
      shape.for_cifar = true;
      shape.classes = 100;
      shape.stem = 16;
      shape.widths = {16, 32, 64};
    }
    return shape;
  }
  return std::nullopt;
}

struct ResnetBlocks {
  graph::Builder& net;

  // `scale`: of the initial values.
  int convolution(const Shape::Convolution& one, int from, double scale = 1) {
    const Conv2dShape shape{.inputs = one.inputs,
                            .outputs = one.outputs,
                            .kernel = {one.kernel, one.kernel},
                            .stride = {one.stride, one.stride},
                            .padding = {one.kernel / 2, one.kernel / 2}};
    auto initial = he_normal(shape.reads());
    initial.scale *= scale;
    return net.add(one.name, graph::Convolution{shape, initial}, {from});
  }
  int relu(const std::string& name, int from) { return net.add(name + ".act", graph::Activation{}, {from}); }
  // Its padding is zeros, where LibTorch's is minus infinity. After a ReLU both give the same
  // values, and the same gradients: a window that has no number above zero gives none back.
  int pool(int from) {
    constexpr auto kPadding = Shape::kPoolKernel / 2;
    net.add("maxpool.pad", graph::ZeroPad{kPadding, kPadding}, {from});
    return net.add("maxpool", graph::MaxPool{Shape::kPoolKernel, Shape::kPoolStride});
  }
  // `last_scale`: of the last convolution.
  int block(const Shape::Block& block, int from, double last_scale) {
    net.block(block.name);
    int x = from;
    for (const auto& one : block.convolutions) {
      const bool last = &one == &block.convolutions.back();
      x = convolution(one, x, last ? last_scale : 1);
      if (!last) x = relu(one.name, x);
    }
    if (block.shortcut) from = convolution(*block.shortcut, from);
    return relu(block.name, net.add(block.name + ".add", graph::Add{}, {from, x}));
  }
};

// The keys of model_args.
Keys of_arguments() {
  return keys::joined(
      {keys::of_convolutional_arguments(), keys::used(Holds::list, "channels layers"),
       keys::harmless("drop_block_rate zero_init_last"), keys::only("[64]", "base_width stem_width"),
       keys::only("[1]", "cardinality block_reduce_first down_kernel_size"),
       keys::only(R"([""])", "stem_type"), keys::only("[false]", "replace_stem_pool avg_down"),
       keys::only(R"(["relu"])", "act_layer"), keys::only("[null]", "aa_layer"),
       keys::only("[null, {}]", "block_args")});
}

Result<Description> describe(const Request& request) {
  if (auto once = decided_once(request, {"block"}); !once) return once.error();
  auto shape = sized<Shape>(request, {{"widths", &Shape::set_widths}, {"blocks", &Shape::set_blocks}});
  if (!shape) return shape.error();
  if (const auto block = read_options<ListedOptions>(request.options).block) {
    if (const auto set = shape->set_kind(*block, request.where()); !set) return set.error();
  }
  auto description = description_of(*shape);
  description.published = normed(*shape);
  return description;
}

}  // namespace

Shape::Convolution Shape::stem_convolution() const {
  return {.name = "conv1",
          .norm = "bn1",
          .side = side,
          .inputs = kChannels,
          .outputs = stem,
          .kernel = for_cifar ? 3 : 7,
          .stride = for_cifar ? 1 : 2};
}

std::int64_t Shape::stem_side() const {
  const auto side_after = stem_convolution().side_after();
  return for_cifar ? side_after : (side_after - 1) / kPoolStride + 1;
}

std::vector<Shape::Block> Shape::list_blocks() const {
  std::vector<Block> list;
  auto from = stem;
  auto at = stem_side();
  for (std::size_t stage = 0; stage < widths.size(); ++stage) {
    const auto width = widths[stage], outputs = widened(width);
    for (std::int64_t i = 0; i < blocks[stage]; ++i) {
      const std::int64_t stride = stage > 0 && i == 0 ? 2 : 1;
      Block block{.name = fmt::format("layer{}.{}", stage + 1, i), .convolutions = {}, .shortcut = {}};
      const auto reads = from, reads_side = at;
      const auto add = [&](std::int64_t to, std::int64_t kernel, std::int64_t step) {
        const auto number = block.convolutions.size() + 1;
        block.convolutions.push_back({.name = fmt::format("{}.conv{}", block.name, number),
                                      .norm = fmt::format("{}.bn{}", block.name, number),
                                      .side = at,
                                      .inputs = from,
                                      .outputs = to,
                                      .kernel = kernel,
                                      .stride = step});
        from = to;
        at = block.convolutions.back().side_after();
      };
      if (kind == Kind::bottleneck) {
        add(width, 1, 1);
        add(width, 3, stride);
        add(outputs, 1, 1);
      } else {
        add(width, 3, stride);
        add(outputs, 3, 1);
      }
      if (stride != 1 || reads != outputs) {
        block.shortcut = Convolution{.name = block.name + ".downsample.0",
                                     .norm = block.name + ".downsample.1",
                                     .side = reads_side,
                                     .inputs = reads,
                                     .outputs = outputs,
                                     .stride = stride};
      }
      list.push_back(std::move(block));
    }
  }
  return list;
}

std::vector<Shape::Convolution> Shape::list_convolutions() const {
  std::vector<Convolution> list{stem_convolution()};
  for (auto& block : list_blocks()) {
    std::ranges::move(block.convolutions, std::back_inserter(list));
    if (block.shortcut) list.push_back(std::move(*block.shortcut));
  }
  return list;
}

Result<Shape> Shape::named(const std::string& name, const std::string& where) {
  if (auto shape = find_size(name)) return *shape;
  const auto names = names_of_sizes();
  return error(fmt::format("{}: the size '{}' is not known.{} Sizes: {}.", where, name,
                           did_you_mean(name, names), join(names, ", ")));
}

Result<void> Shape::set_widths(const json::array& numbers, const std::string& where) {
  const auto read = sizes_from(numbers, widths.size() + 1, kMostChannels,
                               where + ": 'widths' (of the stem and of each stage)");
  if (!read) return read.error();
  stem = read->front();
  widths.assign(read->begin() + 1, read->end());
  return {};
}

Result<void> Shape::set_blocks(const json::array& numbers, const std::string& where) {
  const auto read = sizes_from(numbers, blocks.size(), kMostBlocks, where + ": 'blocks' (of each stage)");
  if (!read) return read.error();
  blocks = *read;
  return {};
}

Result<void> Shape::set_kind(const std::string& name, const std::string& where) {
  if (name != kBasic && name != kBottleneck) {
    return error(fmt::format("{}: 'block' is '{}', where '{}' or '{}' is expected.", where, name, kBasic,
                             kBottleneck));
  }
  kind = name == kBasic ? Kind::basic : Kind::bottleneck;
  return {};
}

Result<Shape> Shape::from_json(const json::object& config, const std::string& where) {
  if (is_kept(config, kOwnType)) {
    const auto sizes = keys::joined({keys::of_kept("widths blocks"), keys::used(Holds::text, "block"),
                                     keys::used(Holds::flag, "for_cifar")});
    if (auto known = check_keys(keys_of_model(kModel, sizes), config, where); !known) return known.error();
    Shape shape;
    if (bool_or(config, "for_cifar", false)) shape = *find_size("resnet20");
    const auto widths = list_at(config, "widths", where);
    if (!widths) return widths.error();
    const auto blocks = list_at(config, "blocks", where);
    if (!blocks) return blocks.error();
    if (auto set = shape.set_widths(**widths, where); !set) return set.error();
    if (auto set = shape.set_blocks(**blocks, where); !set) return set.error();
    if (auto set = shape.set_kind(string_or(config, "block", ""), where); !set) return set.error();
    shape.classes = int_or(config, "classes", shape.classes);
    return shape;
  }
  const auto architecture = timm_architecture(config);
  // The part of the name after a point says how the weights were trained.
  auto shape = find_size(architecture.substr(0, architecture.find('.')));
  if (!shape) return unknown_architecture(where, architecture, "ResNet", names_of_sizes(), kOwnType);
  const auto args = timm_arguments(keys_of_model(kModel, of_arguments()), config, where);
  if (!args) return args.error();
  const auto inside = where + ": model_args";
  for (const auto& [key, sizes, most] : {std::tuple{"channels", &shape->widths, kMostChannels},
                                         std::tuple{"layers", &shape->blocks, kMostBlocks}}) {
    if (!args->contains(key)) continue;
    const auto list = list_at(*args, key, inside);
    if (!list) return list.error();
    const auto read = sizes_from(**list, sizes->size(), most, fmt::format("{}: '{}'", inside, key));
    if (!read) return read.error();
    *sizes = *read;
  }
  return *shape;
}

Result<graph::Graph> graph_of(const ResnetImagenetShape& shape, const std::optional<Lora>& lora) {
  graph::Builder net(lora);
  ResnetBlocks parts{net};
  int x = net.add("image", graph::Unflatten{{Shape::kChannels, shape.side, shape.side}});
  const auto stem = shape.stem_convolution();
  x = parts.relu(stem.name, parts.convolution(stem, x));
  if (!shape.for_cifar) x = parts.pool(x);
  const auto blocks = shape.list_blocks();
  const double last_scale = 1 / std::sqrt(static_cast<double>(blocks.size()));
  for (const auto& block : blocks) x = parts.block(block, x, last_scale);
  x = net.add("avgpool", graph::MeanPlaces{}, {x});
  net.linear("fc", {.inputs = shape.features(), .outputs = shape.classes}, x);
  net.head("fc");
  return net.finish();
}

// torchvision's names, which are timm's too: conv1, bn1, layer1.0.conv1, layer1.0.bn1, ...,
// layer2.0.downsample.0 and .1 (a convolution and its BatchNorm), fc.
NormedNetwork normed(const ResnetImagenetShape& shape) {
  constexpr double kPyTorchEps = 1e-5;
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

json::object model_config(const ResnetImagenetShape& shape) {
  using Shape = ResnetImagenetShape;
  auto widths = numbers({shape.widths.begin(), shape.widths.end()});
  widths.insert(widths.begin(), shape.stem);
  json::object config{{"model_type", Shape::kOwnType},
                      {"widths", widths},
                      {"blocks", numbers({shape.blocks.begin(), shape.blocks.end()})},
                      {"block", shape.kind == Shape::Kind::basic ? Shape::kBasic : Shape::kBottleneck},
                      {"classes", shape.classes}};
  if (shape.for_cifar) config["for_cifar"] = true;
  return config;
}

Facts resnet_imagenet_facts() {
  return {
      .name = kModel,
      .title = "residual network for ImageNet or CIFAR, BatchNorm folded into its convolutions",
      .source = "He et al., arXiv:1512.03385; names and weights of torchvision and timm",
      .options = with_published(
          {plain_option(
               "size",
               "resnet18 (the default, unless other sizes are given), resnet34, resnet50, resnet101 or "
               "resnet152; of CIFAR's images: resnet20, resnet32, resnet44 or resnet56"),
           count("widths", 65536, "channels of the stem and of each of the four stages"),
           count("blocks", 1000, "blocks of each of the four stages"),
           choice_option("block", {Shape::kBasic, Shape::kBottleneck},
                         "basic: two 3x3 convolutions (the default); bottleneck: 1x1, 3x3, and a 1x1 to four "
                         "times the stage's channels")},
          "model.safetensors or pytorch_model.bin as published"),
      .microbatch = 32,
      .example = {.dataset = "synthetic-images",
                  .dataset_options = small_colour_images(34),
                  .options = {{"widths", json::array{6, 3, 4, 5, 6}},
                              {"blocks", json::array{1, 2, 1, 1}},
                              {"block", Shape::kBottleneck}}},
      .normalise = "imagenet",
      .describe = describe};
}

}  // namespace hyfreedp::models
