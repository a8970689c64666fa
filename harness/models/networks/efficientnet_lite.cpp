#include "harness/models/networks/efficientnet_lite.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/models/files/config_keys.h"
#include "harness/models/files/size_lists.h"

namespace hyfreedp::models {
namespace {

using Shape = EfficientNetLiteShape;
using Numbers = std::array<std::int64_t, Shape::kStages>;

// Of the family.
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

constexpr std::int64_t kMostChannels = 65536;
constexpr std::int64_t kMostBlocks = 1000;

Shape of_size(const Size& size) {
  Shape shape;
  shape.widths = size.widths;
  shape.blocks = size.blocks;
  return shape;
}

class LiteParts {
 public:
  explicit LiteParts(graph::Builder& net) : net_(net) {}

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
      from = net_.add(name + ".pad", graph::ZeroPad{padding.before, padding.after}, {from});
      padding = {};
    }
    const Conv2dShape shape{.inputs = size.inputs,
                            .outputs = size.outputs,
                            .kernel = {size.kernel, size.kernel},
                            .stride = {size.stride, size.stride},
                            .padding = {padding.before, padding.before},
                            .groups = size.groups};
    return net_.add(name, graph::Convolution{shape, he_normal(shape.reads())}, {from});
  }
  int active(const std::string& name, const Size& size, int from) {
    return net_.add(name + ".act", graph::Activation{graph::Activation::Kind::relu6},
                    {convolution(name, size, from)});
  }
  int block(const Shape::Block& block, int from) {
    net_.block(block.name);
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
    return block.skips() ? net_.add(block.name + ".add", graph::Add{}, {x, from}) : x;
  }

 private:
  graph::Builder& net_;
};

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
    if (auto known = check_keys(ConfigKeys::kept_efficientnet_lite, config, where); !known)
      return known.error();
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
      if (auto known = check_keys(ConfigKeys::timm, config, where); !known) return known.error();
      auto known =
          check_keys(ConfigKeys::efficientnet_lite_arguments, timm_arguments(config), where + ": model_args");
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
  LiteParts parts(net);
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

}  // namespace hyfreedp::models
