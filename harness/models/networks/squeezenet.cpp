#include "harness/models/networks/squeezenet.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/models/files/config_keys.h"
#include "harness/models/files/size_lists.h"

namespace hyfreedp::models {
namespace {

using Shape = SqueezeNetShape;

constexpr const char* kName = "squeezenet1.1";
constexpr const char* kArchitecture = "squeezenet1_1";  // in a config.json
constexpr std::int64_t kMostChannels = 65536;
// Numbers of the modules in torchvision's list of layers, where the pools count too.
constexpr std::array<int, Shape::kModules> kNumbers{3, 4, 6, 7, 9, 10, 11, 12};
constexpr std::array<bool, Shape::kModules> kPoolBefore{true, false, true, false, true, false, false, false};
constexpr const char* kLinearHead = "linear";
constexpr const char* kConvolutionHead = "convolution";

class FireParts {
 public:
  explicit FireParts(graph::Builder& net) : net_(net) {}

  int convolution(const std::string& name, const Conv2dShape& shape, int from) {
    return net_.add(name, graph::Convolution{shape, he_normal(shape.reads())}, {from});
  }
  int relu(const std::string& name, int from) { return net_.add(name + ".act", graph::Activation{}, {from}); }
  int module(const Shape::Module& module, int from) {
    net_.block(module.name);
    const graph::MaxPool pool{.kernel = 3, .stride = 2, .pools_remainder = true};
    if (!module.pool.empty()) from = net_.add(module.pool, pool, {from});
    const auto squeezed =
        relu(module.squeezing(),
             convolution(module.squeezing(), {.inputs = module.inputs, .outputs = module.squeeze}, from));
    const auto small =
        convolution(module.small(), {.inputs = module.squeeze, .outputs = module.branch}, squeezed);
    const auto large = convolution(
        module.large(),
        {.inputs = module.squeeze, .outputs = module.branch, .kernel = {3, 3}, .padding = {1, 1}}, squeezed);
    // One ReLU over both branches is a ReLU over each.
    return relu(module.name, net_.add(module.name + ".both", graph::Concatenate{}, {small, large}));
  }

 private:
  graph::Builder& net_;
};

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
    if (auto known = check_keys(ConfigKeys::kept_squeezenet, config, where); !known) return known.error();
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
  if (auto known = check_keys(ConfigKeys::timm, config, where); !known) return known.error();
  shape.head = Head::convolution;
  return shape;
}

Result<graph::Graph> graph_of(const SqueezeNetShape& shape, const std::optional<Lora>& lora) {
  graph::Builder net(lora);
  FireParts parts(net);
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

}  // namespace hyfreedp::models
