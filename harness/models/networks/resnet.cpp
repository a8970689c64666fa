#include "harness/models/networks/resnet.h"

#include <fmt/format.h>

#include "harness/models/networks/options.h"
#include "harness/models/networks/requests.h"
#include "harness/models/networks/resnet_imagenet.h"

namespace hyfreedp::models {
namespace {

constexpr double kGroupNormEps = 1e-5;

struct ResnetOptions {
  std::vector<std::int64_t> widths{16, 32, 64};
  std::int64_t blocks = 1;
  std::int64_t groups = 8;
};
BOOST_DESCRIBE_STRUCT(ResnetOptions, (), (widths, blocks, groups))

struct WideResnetOptions {
  std::int64_t depth = 16;
  std::int64_t widen = 4;
  std::int64_t groups = 16;
};
BOOST_DESCRIBE_STRUCT(WideResnetOptions, (), (depth, widen, groups))

// Side of the square images, or what is wrong with them.
Result<std::int64_t> side_of(const Request& request) {
  const auto& input = request.input;
  if (!input.is_image()) {
    return error(request.where() + ": the dataset has no images. Use one that has, or its pixels.");
  }
  if (input.image[1] != input.image[2]) {
    return error(fmt::format("{}: images of {} x {} pixels are not square.", request.where(), input.image[1],
                             input.image[2]));
  }
  return input.image[1];
}

OptionSpec group_count() { return count("groups", 1024, "number of groups of every GroupNorm"); }

Result<void> check(const ResnetShape& shape, const std::string& where) {
  if (shape.widths.empty()) return error(where + ": 'widths' must name at least one stage.");
  for (const auto width : shape.widths) {
    if (width % shape.groups == 0 && shape.stem % shape.groups == 0) continue;
    return error(fmt::format("{}: the number of channels, {}, is not a multiple of the number of groups, {}.",
                             where, width % shape.groups != 0 ? width : shape.stem, shape.groups));
  }
  if (shape.side < std::int64_t{1} << (shape.widths.size() - 1)) {
    return error(fmt::format("{}: an image of {} pixels a side is too small for {} stages.", where,
                             shape.side, shape.widths.size()));
  }
  return {};
}

struct ResidualParts {
  const ResnetShape& shape;
  graph::Builder& net;

  struct Window {
    std::int64_t kernel = 3;
    std::int64_t stride = 1;
  };
  int convolution(const std::string& name, std::int64_t inputs, std::int64_t outputs, const Window& window,
                  int from) {
    const auto padding = window.kernel / 2;
    const Conv2dShape conv{.inputs = inputs,
                           .outputs = outputs,
                           .kernel = {window.kernel, window.kernel},
                           .stride = {window.stride, window.stride},
                           .padding = {padding, padding},
                           .with_bias = false};
    const graph::Convolution layer{
        .shape = conv, .weight = he_normal(conv.reads()), .standardised = shape.wide};
    return net.add(name, layer, {from});
  }
  int norm(const std::string& name, std::int64_t channels, int from) {
    return net.add(name, graph::GroupNorm{shape.groups, channels, kGroupNormEps}, {from});
  }
  int relu(const std::string& name, int from) { return net.add(name, graph::Activation{}, {from}); }

  int plain_block(const std::string& name, std::int64_t inputs, std::int64_t outputs, std::int64_t stride,
                  int from) {
    int x = convolution(name + ".conv1", inputs, outputs, {.stride = stride}, from);
    x = relu(name + ".relu1", norm(name + ".norm1", outputs, x));
    x = norm(name + ".norm2", outputs, convolution(name + ".conv2", outputs, outputs, {}, x));
    if (stride != 1 || inputs != outputs) {
      from = convolution(name + ".shortcut", inputs, outputs, {.kernel = 1, .stride = stride}, from);
      from = norm(name + ".shortcut_norm", outputs, from);
    }
    return relu(name + ".relu2", net.add(name + ".add", graph::Add{}, {from, x}));
  }
  int wide_block(const std::string& name, std::int64_t inputs, std::int64_t outputs, std::int64_t stride,
                 int from) {
    const int active = relu(name + ".relu1", norm(name + ".norm1", inputs, from));
    int x = convolution(name + ".conv1", inputs, outputs, {.stride = stride}, active);
    x = relu(name + ".relu2", norm(name + ".norm2", outputs, x));
    x = convolution(name + ".conv2", outputs, outputs, {}, x);
    if (stride != 1 || inputs != outputs) {
      from = convolution(name + ".shortcut", inputs, outputs, {.kernel = 1, .stride = stride}, active);
    }
    return net.add(name + ".add", graph::Add{}, {from, x});
  }
  int block(const std::string& name, std::int64_t inputs, std::int64_t outputs, std::int64_t stride,
            int from) {
    net.block(name);
    return shape.wide ? wide_block(name, inputs, outputs, stride, from)
                      : plain_block(name, inputs, outputs, stride, from);
  }
};

Result<ResnetShape> plain_sizes(const Request& request) {
  auto own = read_options<ResnetOptions>(request.options);
  return ResnetShape{.stem = own.widths.empty() ? 0 : own.widths.front(),
                     .widths = std::move(own.widths),
                     .blocks = own.blocks,
                     .groups = own.groups};
}

// WRN-depth-widen: (depth - 4) / 6 blocks a stage; the stages have 16, 32 and 64 times `widen`
// channels.
Result<ResnetShape> wide_sizes(const Request& request) {
  const auto [depth, widen, groups] = read_options<WideResnetOptions>(request.options);
  if ((depth - 4) % 6 != 0 || depth < 10) {
    return error(fmt::format("{}: depth {} is not 6 n + 4 with n at least 1 (10, 16, 22, ...).",
                             request.where(), depth));
  }
  return ResnetShape{.stem = 16,
                     .widths = {16 * widen, 32 * widen, 64 * widen},
                     .blocks = (depth - 4) / 6,
                     .groups = groups,
                     .wide = true};
}

// Networks of the same name in other programs are another model here.
Result<void> not_for_imagenet(const Request& request) {
  if (!given(request.options, "weights")) return {};
  const auto folder = request.folder();
  if (!folder || !ResnetImagenetShape::from_json(folder->config, folder->where)) return {};
  return error(folder->where +
               ": these are weights of the model resnet-imagenet. The model resnet has GroupNorms, and takes "
               "only weights that this program kept.");
}

template <Result<ResnetShape> (*sizes_of)(const Request&)>
Result<Description> describe(const Request& request) {
  if (auto suits = not_for_imagenet(request); !suits) return suits.error();
  const auto side = side_of(request);
  if (!side) return side.error();
  auto shape = sizes_of(request);
  if (!shape) return shape.error();
  shape->channels = request.input.image[0];
  shape->side = *side;
  shape->classes = request.input.classes;
  if (auto sound = check(*shape, request.where()); !sound) return sound.error();
  auto description = description_of(*shape);
  description.has_sizes_of_folder = false;
  return description;
}

}  // namespace

Result<graph::Graph> graph_of(const ResnetShape& shape, const std::optional<Lora>& lora) {
  graph::Builder net(lora);
  ResidualParts parts{shape, net};
  int x = net.add("image", graph::Unflatten{{shape.channels, shape.side, shape.side}});
  x = parts.convolution("conv1", shape.channels, shape.stem, {}, x);
  if (!shape.wide) x = parts.relu("relu1", parts.norm("norm1", shape.stem, x));
  auto width = shape.stem;
  for (std::size_t stage = 0; stage < shape.widths.size(); ++stage) {
    for (std::int64_t i = 0; i < shape.blocks; ++i) {
      const std::int64_t stride = stage > 0 && i == 0 ? 2 : 1;
      x = parts.block(fmt::format("stage{}.{}", stage + 1, i), width, shape.widths[stage], stride, x);
      width = shape.widths[stage];
    }
  }
  if (shape.wide) x = parts.relu("relu", parts.norm("norm", width, x));
  x = net.add("pool", graph::MeanPlaces{}, {x});
  net.linear("fc", {.inputs = width, .outputs = shape.classes}, x);
  net.head("fc");
  return net.finish();
}

json::object model_config(const ResnetShape& shape) {
  return {{"model_type", shape.wide ? "hyfreedp-wide-resnet" : "hyfreedp-resnet"},
          {"channels", shape.channels},
          {"side", shape.side},
          {"stem", shape.stem},
          {"widths", numbers(shape.widths)},
          {"blocks", shape.blocks},
          {"groups", shape.groups},
          {"classes", shape.classes}};
}

Facts resnet_facts() {
  return {.name = "resnet",
          .title = "residual network with GroupNorm",
          .source = "He et al., arXiv:1512.03385, with Wu & He, arXiv:1803.08494, for BatchNorm",
          .options = with_parts(options_of<ResnetOptions>(
              {count("widths", 4096, "channels of each stage; every stage but the first halves the image"),
               count("blocks", 100, "blocks of each stage, with two convolutions each"), group_count()})),
          .microbatch = 256,
          .example = {.dataset = "synthetic-images",
                      .dataset_options = small_images(),
                      .options = {{"widths", json::array{4, 8}}, {"groups", 2}}},
          .describe = describe<plain_sizes>};
}

Facts wide_resnet_facts() {
  return {.name = "wrn-16-4",
          .title = "wide residual network 16-4, GroupNorm, standardised weights",
          .source = "De et al., arXiv:2204.13650; Zagoruyko & Komodakis, arXiv:1605.07146",
          .options = with_parts(options_of<WideResnetOptions>(
              {count("depth", 1000, "6 n + 4: n blocks a stage"),
               count("widen", 64, "channels are 16, 32 and 64 times this"), group_count()})),
          .microbatch = 32,
          .example = {.dataset = "synthetic-images",
                      .dataset_options = small_images(),
                      .options = {{"depth", 10}, {"widen", 1}, {"groups", 4}}},
          .describe = describe<wide_sizes>};
}

}  // namespace hyfreedp::models
