#include "harness/models/networks/squeezenet.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/models/files/config_keys.h"
#include "harness/models/files/size_lists.h"
#include "harness/models/networks/options.h"
#include "harness/models/networks/requests.h"

namespace hyfreedp::models {
namespace {

using Shape = SqueezeNetShape;

constexpr const char* kModel = "squeezenet";
constexpr const char* kName = "squeezenet1.1";
constexpr const char* kArchitecture = "squeezenet1_1";  // in a config.json
constexpr std::int64_t kMostChannels = 65536;
// Numbers of the modules in torchvision's list of layers, where the pools count too.
constexpr std::array<int, Shape::kModules> kNumbers{3, 4, 6, 7, 9, 10, 11, 12};
constexpr std::array<bool, Shape::kModules> kPoolBefore{true, false, true, false, true, false, false, false};
constexpr const char* kLinearHead = "linear";
constexpr const char* kConvolutionHead = "convolution";

struct FireParts {
  graph::Builder& net;

  int convolution(const std::string& name, const Conv2dShape& shape, int from) {
    return net.add(name, graph::Convolution{shape, he_normal(shape.reads())}, {from});
  }
  int relu(const std::string& name, int from) { return net.add(name + ".act", graph::Activation{}, {from}); }
  int module(const Shape::Module& module, int from) {
    net.block(module.name);
    const graph::MaxPool pool{.kernel = 3, .stride = 2, .pools_remainder = true};
    if (!module.pool.empty()) from = net.add(module.pool, pool, {from});
    const auto squeezed =
        relu(module.squeezing(),
             convolution(module.squeezing(), {.inputs = module.inputs, .outputs = module.squeeze}, from));
    const auto small =
        convolution(module.small(), {.inputs = module.squeeze, .outputs = module.branch}, squeezed);
    const auto large = convolution(
        module.large(),
        {.inputs = module.squeeze, .outputs = module.branch, .kernel = {3, 3}, .padding = {1, 1}}, squeezed);
    // One ReLU over both branches is a ReLU over each.
    return relu(module.name, net.add(module.name + ".both", graph::Concatenate{}, {small, large}));
  }
};

Result<Description> describe(const Request& request) {
  auto shape = sized<Shape>(request, {{"widths", &Shape::set_widths}, {"squeeze", &Shape::set_squeezes}});
  if (!shape) return shape.error();
  if (read_options<SharedOptions>(request.options).head != "file")
    shape->head = Shape::Head::mean_then_linear;
  auto description = description_of(*shape);
  description.published = caffe_network(*shape);
  return description;
}

}  // namespace

std::vector<Shape::Module> Shape::list_modules() const {
  std::vector<Module> list;
  auto from = stem;
  auto at = stem_side();
  for (std::size_t i = 0; i < kModules; ++i) {
    // A window of three that moves by two: rounded up, as the last may reach beyond the image.
    if (kPoolBefore[i]) at = (at - 2) / 2 + 1;
    list.push_back({.name = fmt::format("features.{}", kNumbers[i]),
                    .pool = kPoolBefore[i] ? fmt::format("features.{}", kNumbers[i] - 1) : std::string(),
                    .side = at,
                    .inputs = from,
                    .squeeze = squeezes[i],
                    .branch = branches[i]});
    from = list.back().outputs();
  }
  return list;
}

Result<Shape> Shape::named(const std::string& name, const std::string& where) {
  if (name == kName) return Shape{};
  return error(fmt::format("{}: the size '{}' is not known.{} Sizes: {}.", where, name,
                           did_you_mean(name, {kName}), kName));
}

Result<void> Shape::set_widths(const json::array& numbers, const std::string& where) {
  const auto read = sizes_from(numbers, kModules + 1, kMostChannels,
                               where + ": 'widths' (of the stem and of each module's two branches)");
  if (!read) return read.error();
  stem = read->front();
  std::copy_n(read->begin() + 1, kModules, branches.begin());
  return {};
}

Result<void> Shape::set_squeezes(const json::array& numbers, const std::string& where) {
  const auto read = sizes_from(numbers, kModules, kMostChannels, where + ": 'squeeze' (of each module)");
  if (!read) return read.error();
  std::copy_n(read->begin(), kModules, squeezes.begin());
  return {};
}

Result<Shape> Shape::from_json(const json::object& config, const std::string& where) {
  Shape shape;
  if (is_kept(config, kOwnType)) {
    const auto sizes = keys::joined({keys::of_kept("widths squeeze"), keys::used(Holds::text, "head")});
    if (auto known = check_keys(keys_of_model(kModel, sizes), config, where); !known) return known.error();
    const auto widths = list_at(config, "widths", where);
    if (!widths) return widths.error();
    const auto squeeze = list_at(config, "squeeze", where);
    if (!squeeze) return squeeze.error();
    if (auto set = shape.set_widths(**widths, where); !set) return set.error();
    if (auto set = shape.set_squeezes(**squeeze, where); !set) return set.error();
    const auto head = string_or(config, "head", "");
    if (head != kLinearHead && head != kConvolutionHead) {
      return error(fmt::format("{}: 'head' is '{}', where '{}' or '{}' is expected.", where, head,
                               kLinearHead, kConvolutionHead));
    }
    shape.head = head == kLinearHead ? Head::mean_then_linear : Head::convolution;
    shape.classes = int_or(config, "classes", shape.classes);
    return shape;
  }
  const auto architecture = timm_architecture(config);
  if (architecture != kArchitecture)
    return unknown_architecture(where, architecture, "SqueezeNet", {kArchitecture}, kOwnType);
  if (auto known = check_timm_keys(config, where); !known) return known.error();
  shape.head = Head::convolution;
  return shape;
}

Result<graph::Graph> graph_of(const SqueezeNetShape& shape, const std::optional<Lora>& lora) {
  graph::Builder net(lora);
  FireParts parts{net};
  constexpr auto kKernel = Shape::kStemKernel, kStride = Shape::kStemStride;
  int x = net.add("image", graph::Unflatten{{Shape::kChannels, shape.side, shape.side}});
  x = parts.convolution("features.0",
                        {.inputs = Shape::kChannels,
                         .outputs = shape.stem,
                         .kernel = {kKernel, kKernel},
                         .stride = {kStride, kStride}},
                        x);
  x = parts.relu("features.0", x);
  for (const auto& module : shape.list_modules()) x = parts.module(module, x);
  const std::string head = "classifier.1";
  net.head(head);
  if (shape.head == Shape::Head::convolution) {
    const Conv2dShape last{.inputs = shape.features(), .outputs = shape.classes};
    x = parts.relu(head, net.add(head, graph::Convolution{last}, {x}));
    net.add("pool", graph::MeanPlaces{}, {x});
  } else {
    x = net.add("pool", graph::MeanPlaces{}, {x});
    net.linear(head, {.inputs = shape.features(), .outputs = shape.classes}, x);
  }
  return net.finish();
}

CaffeNetwork caffe_network(const SqueezeNetShape& shape) {
  std::vector<CaffeConvolution> list{
      {"features.0", "conv1", Shape::kStemKernel, Shape::kChannels, shape.stem}};
  int number = 2;
  for (const auto& module : shape.list_modules()) {
    const auto file = fmt::format("fire{}/", number++);
    list.push_back({module.squeezing(), file + "squeeze1x1", 1, module.inputs, module.squeeze});
    list.push_back({module.small(), file + "expand1x1", 1, module.squeeze, module.branch});
    list.push_back({module.large(), file + "expand3x3", 3, module.squeeze, module.branch});
  }
  list.push_back({"classifier.1", "conv10", 1, shape.features(), shape.classes});
  return {std::move(list)};
}

json::object model_config(const SqueezeNetShape& shape) {
  auto widths = numbers({shape.branches.begin(), shape.branches.end()});
  widths.insert(widths.begin(), shape.stem);
  const bool is_linear = shape.head == SqueezeNetShape::Head::mean_then_linear;
  return {{"model_type", SqueezeNetShape::kOwnType},
          {"widths", widths},
          {"squeeze", numbers({shape.squeezes.begin(), shape.squeezes.end()})},
          {"head", is_linear ? kLinearHead : kConvolutionHead},
          {"classes", shape.classes}};
}

Facts squeezenet_facts() {
  return {.name = kModel,
          .title = "SqueezeNet 1.1",
          .source = "Iandola et al., arXiv:1602.07360, version 1.1 of its authors; names of torchvision",
          .options = with_published(
              {plain_option("size", "squeezenet1.1 (the default, unless other sizes are given)"),
               count("widths", 65536, "channels of the stem and of each branch of the eight fire modules"),
               count("squeeze", 65536, "channels that each of the eight fire modules squeezes to")},
              "weights.pkl or pytorch_model.bin as published"),
          .microbatch = 32,
          .example = {.dataset = "synthetic-images",
                      .dataset_options = small_colour_images(26),
                      // So wide that no module's ReLUs are all at zero: each layer has a gradient.
                      .options = {{"widths", json::array{6, 6, 6, 7, 7, 8, 8, 8, 8}},
                                  {"squeeze", json::array{6, 6, 6, 7, 6, 8, 7, 8}}}},
          .normalise = "imagenet",
          .describe = describe};
}

}  // namespace hyfreedp::models
