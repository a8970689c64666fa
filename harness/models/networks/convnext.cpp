#include "harness/models/networks/convnext.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

#include "harness/base/text.h"
#include "harness/models/files/config_keys.h"
#include "harness/models/files/size_lists.h"
#include "harness/models/networks/options.h"
#include "harness/models/networks/requests.h"

namespace hyfreedp::models {
namespace {

using Shape = ConvnextShape;
using Sizes = std::array<std::int64_t, Shape::kStages>;

struct Size {
  const char* name;  // here and in a config.json
  Sizes widths;
  Sizes blocks;
};
constexpr Size kSizes[] = {{"convnext_tiny", {96, 192, 384, 768}, {3, 3, 9, 3}},
                           {"convnext_small", {96, 192, 384, 768}, {3, 3, 27, 3}},
                           {"convnext_base", {128, 256, 512, 1024}, {3, 3, 27, 3}},
                           {"convnext_large", {192, 384, 768, 1536}, {3, 3, 27, 3}},
                           {"convnext_xlarge", {256, 512, 1024, 2048}, {3, 3, 27, 3}}};

constexpr const char* kModel = "convnext";
constexpr std::int64_t kMostChannels = 65536;
constexpr std::int64_t kMostBlocks = 1000;

Result<void> set_sizes(Sizes& sizes, const json::array& numbers, std::int64_t most, const std::string& what) {
  const auto read = sizes_from(numbers, Shape::kStages, most, what);
  if (!read) return read.error();
  std::copy_n(read->begin(), Shape::kStages, sizes.begin());
  return {};
}

constexpr double kNormEps = 1e-6;
constexpr double kLayerScale = 1e-6;
constexpr Initial kTruncated{Initial::Kind::truncated, 0.02};

struct ConvnextParts {
  graph::Builder& net;

  int norm(const std::string& name, std::int64_t width, int from) {
    return net.add(name, graph::LayerNorm{width, kNormEps}, {from});
  }
  // A convolution of an image, whose result is tokens.
  int convolution(const std::string& name, const Conv2dShape& shape, int from) {
    net.add(name, graph::Convolution{shape, kTruncated}, {from});
    return net.add("", graph::PlacesToTokens{});
  }
  int as_image(std::int64_t side, int from) { return net.add("", graph::TokensToPlaces{side}, {from}); }
  // Convolutions whose windows lie side by side.
  int patches(const std::string& name, std::int64_t inputs, std::int64_t outputs, std::int64_t kernel,
              int from) {
    return convolution(
        name, {.inputs = inputs, .outputs = outputs, .kernel = {kernel, kernel}, .stride = {kernel, kernel}},
        from);
  }
  int linear(const std::string& name, std::int64_t inputs, std::int64_t outputs, int from) {
    return net.linear(name, {.inputs = inputs, .outputs = outputs, .weight = kTruncated}, from);
  }
  int block(const std::string& name, std::int64_t width, std::int64_t side, int from) {
    constexpr auto kKernel = Shape::kBlockKernel;
    net.block(name);
    int x = convolution(name + ".conv_dw",
                        {.inputs = width,
                         .outputs = width,
                         .kernel = {kKernel, kKernel},
                         .padding = {kKernel / 2, kKernel / 2},
                         .groups = width},
                        as_image(side, from));
    const auto hidden = Shape::kWidening * width;
    x = linear(name + ".mlp.fc1", width, hidden, norm(name + ".norm", width, x));
    x = net.add(name + ".mlp.act", graph::Activation{graph::Activation::Kind::gelu}, {x});
    x = linear(name + ".mlp.fc2", hidden, width, x);
    x = net.add("", graph::Scale{name + ".gamma", width, {Initial::Kind::constant, kLayerScale}}, {x});
    return net.add(name + ".add", graph::Add{}, {from, x});
  }
};

// The keys of model_args.
Keys of_arguments() {
  return keys::joined({keys::of_convolutional_arguments(), keys::used(Holds::list, "depths dims"),
                       keys::harmless("ls_init_value head_init_scale"), keys::only("[7]", "kernel_sizes"),
                       keys::only(R"(["patch"])", "stem_type"), keys::only("[4]", "patch_size"),
                       keys::only("[false]", "head_norm_first conv_mlp use_grn"),
                       keys::only("[true]", "conv_bias"), keys::only("[null]", "head_hidden_size norm_layer"),
                       keys::only(R"(["gelu"])", "act_layer"), keys::only("[null, 1e-6]", "norm_eps")});
}

Result<Description> describe(const Request& request) {
  const auto shape = sized<Shape>(request, {{"widths", &Shape::set_widths}, {"blocks", &Shape::set_blocks}});
  if (!shape) return shape.error();
  return description_of(*shape);
}

}  // namespace

std::int64_t Shape::stage_side(std::size_t stage) const {
  auto places = side / kStemKernel;
  for (std::size_t s = 0; s < stage; ++s) places /= kDownsampleKernel;
  return places;
}

Result<Shape> Shape::named(const std::string& name, const std::string& where) {
  std::vector<std::string> names;
  for (const auto& size : kSizes) {
    // The part of the name after a point says how the weights were trained.
    if (name.substr(0, name.find('.')) == size.name) {
      Shape shape;
      shape.widths = size.widths;
      shape.blocks = size.blocks;
      return shape;
    }
    names.emplace_back(size.name);
  }
  return error(fmt::format("{}: architecture '{}' is no ConvNeXt that is known here.{} Sizes: {}.", where,
                           name, did_you_mean(name, names), join(names, ", ")));
}

Result<void> Shape::set_widths(const json::array& numbers, const std::string& where) {
  return set_sizes(widths, numbers, kMostChannels, where + ": 'widths' (of each stage)");
}

Result<void> Shape::set_blocks(const json::array& numbers, const std::string& where) {
  return set_sizes(blocks, numbers, kMostBlocks, where + ": 'blocks' (of each stage)");
}

Result<Shape> Shape::from_json(const json::object& config, const std::string& where) {
  const auto architecture = timm_architecture(config);
  auto shape = named(architecture, where);
  if (!shape) return shape;
  const auto args = timm_arguments(keys_of_model(kModel, of_arguments()), config, where);
  if (!args) return args.error();
  const auto inside = where + ": model_args";
  const auto set = [&](const char* key, Sizes& sizes, std::int64_t most) -> Result<void> {
    if (!args->contains(key)) return {};
    const auto list = list_at(*args, key, inside);
    if (!list) return list.error();
    return set_sizes(sizes, **list, most, fmt::format("{}: '{}'", inside, key));
  };
  if (auto done = set("dims", shape->widths, kMostChannels); !done) return done.error();
  if (auto done = set("depths", shape->blocks, kMostBlocks); !done) return done.error();
  shape->classes = int_or(*args, "num_classes", int_or(config, "num_classes", shape->classes));
  return shape;
}

Result<graph::Graph> graph_of(const ConvnextShape& shape, const std::optional<Lora>& lora) {
  graph::Builder net(lora);
  ConvnextParts parts{net};
  int x = net.add("image", graph::Unflatten{{Shape::kChannels, shape.side, shape.side}});
  x = parts.patches("stem.0", Shape::kChannels, shape.widths[0], Shape::kStemKernel, x);
  x = parts.norm("stem.1", shape.widths[0], x);
  for (std::size_t s = 0; s < Shape::kStages; ++s) {
    const auto stage = fmt::format("stages.{}", s);
    if (s > 0) {
      x = parts.norm(stage + ".downsample.0", shape.widths[s - 1], x);
      x = parts.patches(stage + ".downsample.1", shape.widths[s - 1], shape.widths[s],
                        Shape::kDownsampleKernel, parts.as_image(shape.stage_side(s - 1), x));
    }
    for (std::int64_t b = 0; b < shape.blocks[s]; ++b)
      x = parts.block(fmt::format("{}.blocks.{}", stage, b), shape.widths[s], shape.stage_side(s), x);
  }
  x = net.add("pool", graph::MeanTokens{0}, {x});
  parts.linear("head.fc", shape.features(), shape.classes, parts.norm("head.norm", shape.features(), x));
  net.head("head.fc");
  return net.finish();
}

json::object model_config(const ConvnextShape& shape) {
  return {{"architecture", "convnext_tiny"},
          {"num_classes", shape.classes},
          {"num_features", shape.features()},
          {"model_args", json::object{{"depths", numbers({shape.blocks.begin(), shape.blocks.end()})},
                                      {"dims", numbers({shape.widths.begin(), shape.widths.end()})},
                                      {"num_classes", shape.classes}}},
          {"pretrained_cfg",
           json::object{{"input_size", json::array{ConvnextShape::kChannels, shape.side, shape.side}},
                        {"num_classes", shape.classes},
                        {"first_conv", "stem.0"},
                        {"classifier", "head.fc"}}}};
}

Facts convnext_facts() {
  const std::string targets = "mlp.fc1,mlp.fc2";
  return {.name = kModel,
          .title = "ConvNeXt, convolutional with LayerNorm",
          .source = "Liu et al., arXiv:2201.03545; names and weights of timm",
          .options = with_adapters(
              options_of<ListedOptions>(
                  {plain_option("size",
                                "convnext_tiny (the default, unless other sizes are given), convnext_small, "
                                "convnext_base, convnext_large or convnext_xlarge"),
                   count("widths", 65536, "channels of each of the four stages"),
                   count("blocks", 1000, "blocks of each of the four stages")}),
              targets, true),
          .microbatch = 16,
          .example = {.dataset = "synthetic-images",
                      .dataset_options = small_colour_images(34),
                      .options = {{"widths", json::array{4, 3, 5, 6}}, {"blocks", json::array{1, 2, 1, 1}}}},
          .adapter_targets = targets,
          .normalise = "imagenet",
          .describe = describe};
}

}  // namespace hyfreedp::models
