#include "harness/models/graph/layers.h"

#include <cmath>
#include <functional>
#include <numeric>

namespace hyfreedp::models {

Initial he_normal(std::int64_t inputs) {
  return {Initial::Kind::normal, std::sqrt(2.0 / static_cast<double>(inputs))};
}

Initial uniform_by_inputs(std::int64_t inputs) {
  return {Initial::Kind::uniform, 1.0 / std::sqrt(static_cast<double>(inputs))};
}

namespace graph {
namespace {

constexpr Initial kOne{Initial::Kind::constant, 1};

using Parameters = std::vector<LayerParameter>;

struct ParametersOf {
  Parameters operator()(const Linear& layer) const {
    Parameters list{{"weight", {layer.outputs, layer.inputs}, layer.weight}};
    if (layer.transposed) list.front().shape = {layer.inputs, layer.outputs};
    if (layer.with_bias) list.push_back({"bias", {layer.outputs}, {}});
    return list;
  }
  Parameters operator()(const Convolution& layer) const {
    const auto& shape = layer.shape;
    Parameters list{{"weight",
                     {shape.outputs, shape.inputs / shape.groups, shape.kernel[0], shape.kernel[1]},
                     layer.weight}};
    if (shape.with_bias) list.push_back({"bias", {shape.outputs}, layer.bias});
    return list;
  }
  Parameters operator()(const GroupNorm& layer) const {
    return {{"weight", {layer.channels}, kOne}, {"bias", {layer.channels}, {}}};
  }
  Parameters operator()(const LayerNorm& layer) const {
    return {{"weight", {layer.width}, kOne}, {"bias", {layer.width}, {}}};
  }
  Parameters operator()(const RmsNorm& layer) const { return {{"weight", {layer.width}, kOne}}; }
  Parameters operator()(const Embedding& layer) const {
    return {{"weight", {layer.rows, layer.width}, layer.table}};
  }
  Parameters operator()(const Positions& layer) const {
    return {{layer.parameter, layer.shape, layer.table}};
  }
  Parameters operator()(const ClassToken& layer) const {
    return {{layer.parameter, {1, 1, layer.width}, layer.token}};
  }
  Parameters operator()(const Scale& layer) const {
    return {{layer.parameter, {layer.width}, layer.factors}};
  }
  Parameters operator()(const QueryValueBias& layer) const {
    return {{layer.prefix + "q_bias", {layer.width}, {}}, {layer.prefix + "v_bias", {layer.width}, {}}};
  }
  Parameters operator()(const Attention& layer) const {
    if (layer.shape.side == 0) return {};
    return {{"relative_position_bias_table", {layer.shape.distances(), layer.shape.heads}, {}}};
  }
  template <class Other>
  Parameters operator()(const Other& /*layer*/) const {
    return {};
  }
};

Sizes with_last(Sizes sizes, std::int64_t last) {
  sizes.back() = last;
  return sizes;
}

// Windows of a line; `reach`: the places from a window's first to its last, both counted.
std::int64_t windows(std::int64_t side, std::int64_t reach, std::int64_t stride) {
  return (side - reach) / stride + 1;
}

struct OutputSizes {
  std::span<const Sizes> inputs;

  const Sizes& input() const { return inputs.front(); }
  Sizes operator()(const Linear& layer) const { return with_last(input(), layer.outputs); }
  Sizes operator()(const Convolution& layer) const {
    Sizes sizes{layer.shape.outputs};
    for (std::size_t i = 0; i < 2; ++i) {
      const auto reach = layer.shape.dilation[i] * (layer.shape.kernel[i] - 1) + 1;
      sizes.push_back(windows(input()[i + 1] + 2 * layer.shape.padding[i], reach, layer.shape.stride[i]));
    }
    return sizes;
  }
  Sizes operator()(const Embedding& layer) const {
    return input().size() == 1 ? Sizes{input()[0], layer.width} : with_last(input(), layer.rows);
  }
  Sizes operator()(const ClassToken& /*layer*/) const { return {input()[0] + 1, input()[1]}; }
  Sizes operator()(const Attention& layer) const {
    return with_last(input(), layer.shape.heads * layer.shape.head_width);
  }
  Sizes operator()(const Program& layer) const { return {layer.outputs}; }
  Sizes operator()(const Unflatten& layer) const { return layer.shape; }
  Sizes operator()(const Flatten& /*layer*/) const { return {count_of(input())}; }
  Sizes operator()(const ZeroPad& layer) const {
    const auto more = layer.before + layer.after;
    return {input()[0], input()[1] + more, input()[2] + more};
  }
  Sizes operator()(const PlacesToTokens& /*layer*/) const { return {input()[1] * input()[2], input()[0]}; }
  Sizes operator()(const TokensToPlaces& layer) const { return {input()[1], layer.side, layer.side}; }
  Sizes operator()(const MaxPool& layer) const {
    const auto more = layer.pools_remainder ? layer.stride - 1 : 0;
    const auto pooled = [&](std::int64_t side) { return windows(side + more, layer.kernel, layer.stride); };
    return {input()[0], pooled(input()[1]), pooled(input()[2])};
  }
  Sizes operator()(const MeanPlaces& /*layer*/) const { return {input()[0]}; }
  Sizes operator()(const MeanTokens& /*layer*/) const { return {input()[1]}; }
  Sizes operator()(const MeanUnpadded& /*layer*/) const { return {input()[1]}; }
  Sizes operator()(const MeansOfTokens& layer) const { return {layer.count * input()[1]}; }
  Sizes operator()(const FirstToken& /*layer*/) const { return {input()[1]}; }
  Sizes operator()(const Concatenate& /*layer*/) const {
    auto sizes = input();
    for (const auto& one : inputs.subspan(1)) sizes[0] += one[0];
    return sizes;
  }
  // The output has the sizes of the first input.
  template <class Other>
  Sizes operator()(const Other& /*layer*/) const {
    return input();
  }
};

}  // namespace

std::int64_t count_of(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

std::vector<LayerParameter> parameters_of(const Layer& layer) { return std::visit(ParametersOf{}, layer); }

Sizes output_sizes(const Layer& layer, std::span<const Sizes> inputs) {
  return std::visit(OutputSizes{inputs}, layer);
}

}  // namespace graph
}  // namespace hyfreedp::models
