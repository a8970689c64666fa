#include "harness/models/facts/convnet_shape.h"

#include <cmath>
#include <fmt/format.h>

namespace hyfreedp::models {
namespace {

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

}  // namespace

Result<CnnShape> cnn_shape(const json::object& options, const ModelInput& input) {
  CnnShape shape;
  shape.classes = input.classes;
  shape.channels = int_or(options, "channels", 1);
  shape.hidden = int_or(options, "hidden", 32);
  const auto& filters = options.at("filters").as_array();
  if (filters.size() != 2) return error("model cnn: 'filters' must be two numbers, one a convolution.");
  shape.filters1 = filters[0].to_number<std::int64_t>();
  shape.filters2 = filters[1].to_number<std::int64_t>();
  const auto pixels = input.features / shape.channels;
  shape.side = std::llround(std::sqrt(static_cast<double>(pixels)));
  if (input.is_sequence() || shape.side * shape.side * shape.channels != input.features) {
    const auto is_image = !input.is_sequence() && input.image[0] > 1 && input.image[0] != shape.channels;
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

}  // namespace hyfreedp::models
