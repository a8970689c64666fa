#include "harness/models/layers/make_network.h"

#include "harness/models/facts/weights_source.h"
#include "harness/models/layers/activation.h"
#include "harness/models/layers/attention.h"
#include "harness/models/layers/bare.h"
#include "harness/models/layers/embedding.h"
#include "harness/models/layers/linear.h"
#include "harness/models/layers/normalisation.h"
#include "harness/models/layers/program.h"
#include "harness/models/layers/query_value_bias.h"
#include "harness/models/layers/shape.h"
#include "harness/models/layers/standardised_conv2d.h"

namespace hyfreedp::models {
namespace {

using Made = Result<std::shared_ptr<Layer>>;

template <class Kind, class... Arguments>
Made made(Arguments&&... arguments) {
  return std::shared_ptr<Layer>(std::make_shared<Kind>(std::forward<Arguments>(arguments)...));
}

struct LayerMaker {
  torch::Device device;

  Made operator()(const graph::Linear& one) const {
    return made<Linear>(one.inputs, one.outputs, one.with_bias, one.transposed);
  }
  Made operator()(const graph::Convolution& one) const {
    return one.standardised ? made<StandardisedConv2d>(one.shape) : made<Conv2d>(one.shape);
  }
  Made operator()(const graph::GroupNorm& one) const {
    return made<GroupNorm>(one.groups, one.channels, one.eps);
  }
  Made operator()(const graph::LayerNorm& one) const { return made<LayerNorm>(one.width, one.eps); }
  Made operator()(const graph::RmsNorm& one) const { return made<RmsNorm>(one.width, one.eps); }
  Made operator()(const graph::Embedding& one) const { return made<Embedding>(one.rows, one.width); }
  Made operator()(const graph::Positions& one) const {
    return made<Positions>(one.parameter, one.shape, one.first);
  }
  Made operator()(const graph::ClassToken& one) const { return made<ClassToken>(one.parameter, one.width); }
  Made operator()(const graph::Scale& one) const { return made<BareScale>(one.parameter, one.width); }
  Made operator()(const graph::QueryValueBias& one) const {
    return made<QueryValueBias>(one.prefix, one.width);
  }
  Made operator()(const graph::Attention& one) const { return made<Attention>(one.shape); }
  Made operator()(const graph::Program& one) const {
    const auto path = locate_program(one.file);
    if (!path) return path.error();
    auto program =
        Program::load(*path, {.image = one.image, .inputs = one.inputs, .outputs = one.outputs}, device);
    if (!program) return program.error();
    return std::shared_ptr<Layer>(std::move(*program));
  }
  Made operator()(const graph::Activation& one) const {
    using Kind = graph::Activation::Kind;
    switch (one.kind) {
      case Kind::tanh:
        return made<Tanh>();
      case Kind::relu:
        return made<Relu>();
      case Kind::relu6:
        return made<Relu6>();
      case Kind::gelu:
        return made<Gelu>(Gelu::Form::exact);
      case Kind::gelu_by_tanh:
        return made<Gelu>(Gelu::Form::tanh);
      case Kind::quick_gelu:
        return made<Gelu>(Gelu::Form::quick);
      case Kind::gated_silu:
        break;
    }
    return made<GatedSilu>();
  }
  Made operator()(const graph::Unflatten& one) const { return made<Unflatten>(one.shape); }
  Made operator()(const graph::Flatten& /*one*/) const { return made<Flatten>(); }
  Made operator()(const graph::ZeroPad& one) const {
    return made<ZeroPad2d>(ZeroPad2d::Sides{one.before, one.after, one.before, one.after});
  }
  Made operator()(const graph::PlacesToTokens& /*one*/) const { return made<PlacesToTokens>(); }
  Made operator()(const graph::TokensToPlaces& one) const { return made<TokensToPlaces>(one.side); }
  Made operator()(const graph::MaxPool& one) const {
    using Remainder = MaxPool2d::Remainder;
    using Sides = std::array<std::int64_t, 2>;
    return made<MaxPool2d>(Sides{one.kernel, one.kernel}, Sides{one.stride, one.stride},
                           one.pools_remainder ? Remainder::pooled : Remainder::dropped);
  }
  Made operator()(const graph::MeanPlaces& /*one*/) const { return made<MeanPlaces>(); }
  Made operator()(const graph::MeanTokens& one) const { return made<MeanTokens>(one.first); }
  Made operator()(const graph::MeanUnpadded& one) const { return made<MeanUnpadded>(one.padding); }
  Made operator()(const graph::Segments& one) const { return made<Segments>(one.separator); }
  Made operator()(const graph::MeansOfTokens& one) const {
    return made<MeansOfTokens>(one.first, one.count, one.length);
  }
  Made operator()(const graph::FirstToken& /*one*/) const { return made<FirstToken>(); }
  Made operator()(const graph::Add& one) const { return made<Add>(one.scale); }
  Made operator()(const graph::Concatenate& /*one*/) const { return made<Concatenate>(); }
};

}  // namespace

Made make_layer(const graph::Layer& layer, torch::Device device) {
  return std::visit(LayerMaker{device}, layer);
}

Result<Network> make_network(const graph::Graph& graph, const torch::TensorOptions& options,
                             const Network::Trainable& trainable, std::optional<torch::ScalarType> compute) {
  std::vector<Network::Place> places;
  for (const auto& place : graph.places) {
    if (place.again >= 0) {
      places.push_back({place.name, places[static_cast<std::size_t>(place.again)].layer, place.inputs});
      continue;
    }
    auto layer = make_layer(place.layer, options.device());
    if (!layer) return layer.error();
    places.push_back({place.name, std::move(*layer), place.inputs});
  }
  auto network = Network::make(std::move(places), options, trainable, compute);
  if (!network) return network;
  network->set_blocks(graph::spans_of_blocks(graph));
  for (const auto& place : graph.places) {
    if (place.name + "." == graph.head && std::holds_alternative<graph::Linear>(place.layer))
      network->set_head(place.name);
  }
  return network;
}

}  // namespace hyfreedp::models
