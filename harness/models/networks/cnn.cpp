#include "harness/models/networks/cnn.h"

#include <cmath>
#include <fmt/format.h>

#include "harness/models/networks/options.h"
#include "harness/models/networks/requests.h"

namespace hyfreedp::models {
namespace {

struct CnnOptions {
  std::int64_t channels = 1;
  std::vector<std::int64_t> filters{16, 32};
  std::int64_t hidden = 32;
};
BOOST_DESCRIBE_STRUCT(CnnOptions, (), (channels, filters, hidden))

Result<CnnShape> shape_of(const Request& request) {
  if (auto numbers = need_numbers(request); !numbers) return numbers.error();
  const auto own = read_options<CnnOptions>(request.options);
  const auto& input = request.input;
  CnnShape shape;
  shape.classes = input.classes;
  shape.channels = own.channels;
  shape.hidden = own.hidden;
  if (own.filters.size() != 2) return error("model cnn: 'filters' must be two numbers, one a convolution.");
  shape.filters1 = own.filters[0];
  shape.filters2 = own.filters[1];
  const auto pixels = input.features / shape.channels;
  shape.side = std::llround(std::sqrt(static_cast<double>(pixels)));
  if (shape.side * shape.side * shape.channels != input.features) {
    const auto is_image = input.image[0] > 1 && input.image[0] != shape.channels;
    return error(fmt::format(
        "model cnn: {} features are not a square image with {} channel(s). {}", input.features,
        shape.channels,
        is_image ? fmt::format("The dataset's images have {0}: say 'channels: {0}'.", input.image[0])
                 : "Use the dataset's pixels."));
  }
  const auto first = (shape.side - 2) / 2;  // ((side + 6 - 8) / 2 + 1) - 1
  const auto last = (first - 4) / 2;        // ((first - 4) / 2 + 1) - 1
  if (first < 4 || last < 1) {
    return error(
        fmt::format("model cnn: an image of {} pixels a side is too small; 14 are the least.", shape.side));
  }
  shape.flat = shape.filters2 * last * last;
  return shape;
}

Result<Description> describe(const Request& request) {
  const auto shape = shape_of(request);
  if (!shape) return shape.error();
  auto description = description_of(*shape);
  description.has_sizes_of_folder = false;
  return description;
}

}  // namespace

Result<graph::Graph> graph_of(const CnnShape& shape, const std::optional<Lora>& lora) {
  graph::Builder net(lora);
  const graph::Activation tanh{graph::Activation::Kind::tanh};
  const graph::MaxPool pool{.kernel = 2, .stride = 1};
  const Conv2dShape first{.inputs = shape.channels,
                          .outputs = shape.filters1,
                          .kernel = {8, 8},
                          .stride = {2, 2},
                          .padding = {3, 3}};
  const Conv2dShape second{
      .inputs = shape.filters1, .outputs = shape.filters2, .kernel = {4, 4}, .stride = {2, 2}};
  net.add("image", graph::Unflatten{{shape.channels, shape.side, shape.side}});
  net.add("conv1", graph::Convolution{first, he_normal(first.reads())});
  net.add("tanh1", tanh);
  net.add("pool1", pool);
  net.add("conv2", graph::Convolution{second, he_normal(second.reads())});
  net.add("tanh2", tanh);
  net.add("pool2", pool);
  net.add("flatten", graph::Flatten{});
  const graph::Linear hidden{.inputs = shape.flat, .outputs = shape.hidden, .weight = he_normal(shape.flat)};
  net.linear("fc1", hidden, net.last());
  net.add("tanh3", tanh);
  net.linear("fc2", {.inputs = shape.hidden, .outputs = shape.classes}, net.last());
  for (const char* name : {"conv1", "conv2", "fc1"}) net.block(name);
  net.head("fc2");
  return net.finish();
}

json::object model_config(const CnnShape& shape) {
  return {{"model_type", "hyfreedp-cnn"}, {"channels", shape.channels},
          {"side", shape.side},           {"filters", json::array{shape.filters1, shape.filters2}},
          {"hidden", shape.hidden},       {"classes", shape.classes}};
}

Facts cnn_facts() {
  return {.name = "cnn",
          .title = "tanh convolutional network",
          .source = "two convolutions and two linear layers, as in Papernot et al., arXiv:2007.14191",
          .options = with_parts(options_of<CnnOptions>(
              {count("channels", 1024,
                     "channels of the input image; its features are in the order channel, row, column"),
               count("filters", 4096, "number of filters of the first and the second convolution"),
               count("hidden", 65536, "width of the linear layer before the last")})),
          .example = {.dataset_options = {{"features", 196}}},
          .describe = describe};
}

}  // namespace hyfreedp::models
