#include "harness/models/networks/resnet.h"

#include <fmt/format.h>

namespace hyfreedp::models {
namespace {

constexpr double kGroupNormEps = 1e-5;

// Side of the square images, or what is wrong with them.
Result<std::int64_t> side_of(const ModelInput& input, const std::string& model) {
  if (!input.is_image()) {
    return error(fmt::format("model {}: the dataset has no images. Use one that has, or its pixels.", model));
  }
  if (input.image[1] != input.image[2]) {
    return error(fmt::format("model {}: images of {} x {} pixels are not square.", model, input.image[1],
                             input.image[2]));
  }
  return input.image[1];
}

Result<ResnetShape> checked(ResnetShape shape, const std::string& model) {
  if (shape.widths.empty()) return error("model " + model + ": 'widths' must name at least one stage.");
  for (const auto width : shape.widths) {
    if (width % shape.groups == 0 && shape.stem % shape.groups == 0) continue;
    return error(
        fmt::format("model {}: the number of channels, {}, is not a multiple of the number of groups, {}.",
                    model, width % shape.groups != 0 ? width : shape.stem, shape.groups));
  }
  if (shape.side < std::int64_t{1} << (shape.widths.size() - 1)) {
    return error(fmt::format("model {}: an image of {} pixels a side is too small for {} stages.", model,
                             shape.side, shape.widths.size()));
  }
  return shape;
}

class ResidualParts {
 public:
  ResidualParts(const ResnetShape& shape, graph::Builder& net) : shape_(shape), net_(net) {}

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
        .shape = conv, .weight = he_normal(conv.reads()), .standardised = shape_.wide};
    return net_.add(name, layer, {from});
  }
  int norm(const std::string& name, std::int64_t channels, int from) {
    return net_.add(name, graph::GroupNorm{shape_.groups, channels, kGroupNormEps}, {from});
  }
  int relu(const std::string& name, int from) { return net_.add(name, graph::Activation{}, {from}); }

  int plain_block(const std::string& name, std::int64_t inputs, std::int64_t outputs, std::int64_t stride,
                  int from) {
    int x = convolution(name + ".conv1", inputs, outputs, {.stride = stride}, from);
    x = relu(name + ".relu1", norm(name + ".norm1", outputs, x));
    x = norm(name + ".norm2", outputs, convolution(name + ".conv2", outputs, outputs, {}, x));
    if (stride != 1 || inputs != outputs) {
      from = convolution(name + ".shortcut", inputs, outputs, {.kernel = 1, .stride = stride}, from);
      from = norm(name + ".shortcut_norm", outputs, from);
    }
    return relu(name + ".relu2", net_.add(name + ".add", graph::Add{}, {from, x}));
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
    return net_.add(name + ".add", graph::Add{}, {from, x});
  }
  int block(const std::string& name, std::int64_t inputs, std::int64_t outputs, std::int64_t stride,
            int from) {
    net_.block(name);
    return shape_.wide ? wide_block(name, inputs, outputs, stride, from)
                       : plain_block(name, inputs, outputs, stride, from);
  }

 private:
  const ResnetShape& shape_;
  graph::Builder& net_;
};

}  // namespace

Result<ResnetShape> resnet_shape(const json::object& options, const ModelInput& input) {
  const auto side = side_of(input, "resnet");
  if (!side) return side.error();
  ResnetShape shape{.channels = input.image[0],
                    .side = *side,
                    .stem = 0,
                    .widths = {},
                    .blocks = int_or(options, "blocks", 1),
                    .groups = int_or(options, "groups", 8),
                    .wide = false,
                    .classes = input.classes};
  for (const auto& width : options.at("widths").as_array())
    shape.widths.push_back(width.to_number<std::int64_t>());
  if (!shape.widths.empty()) shape.stem = shape.widths.front();
  return checked(std::move(shape), "resnet");
}

Result<ResnetShape> wide_resnet_shape(const json::object& options, const ModelInput& input) {
  const auto side = side_of(input, "wrn-16-4");
  if (!side) return side.error();
  const auto depth = int_or(options, "depth", 16);
  const auto widen = int_or(options, "widen", 4);
  if ((depth - 4) % 6 != 0 || depth < 10) {
    return error(
        fmt::format("model wrn-16-4: depth {} is not 6 n + 4 with n at least 1 (10, 16, 22, ...).", depth));
  }
  return checked({.channels = input.image[0],
                  .side = *side,
                  .stem = 16,
                  .widths = {16 * widen, 32 * widen, 64 * widen},
                  .blocks = (depth - 4) / 6,
                  .groups = int_or(options, "groups", 16),
                  .wide = true,
                  .classes = input.classes},
                 "wrn-16-4");
}

Result<graph::Graph> graph_of(const ResnetShape& shape, const std::optional<Lora>& lora) {
  graph::Builder net(lora);
  ResidualParts parts(shape, net);
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

}  // namespace hyfreedp::models
