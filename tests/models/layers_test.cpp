// Every layer rule against finite differences of each sample's own loss, in float64, in networks
// small enough to move every parameter. The loss of sample i is a fixed random linear function of
// its outputs, so nothing but the layers is tested.
#include <ATen/Context.h>
#include <cmath>
#include <gtest/gtest.h>
#include <torch/types.h>

#include "harness/models/graph/builder.h"
#include "harness/models/layers/activation.h"
#include "harness/models/layers/attention.h"
#include "harness/models/layers/bare.h"
#include "harness/models/layers/conv2d.h"
#include "harness/models/layers/embedding.h"
#include "harness/models/layers/linear.h"
#include "harness/models/layers/make_network.h"
#include "harness/models/layers/normalisation.h"
#include "harness/models/layers/shape.h"
#include "harness/models/layers/standardised_conv2d.h"
#include "tests/models/compare.h"

namespace hyfreedp::models {
namespace layers_test {

using torch::Tensor;
using Places = std::vector<Network::Place>;

const auto kDouble = torch::TensorOptions().dtype(torch::kFloat64);

Network filled(Places places) {
  auto network = Network::make(std::move(places), kDouble).value();
  at::manual_seed(7);
  network.parameters().copy_(at::randn({network.dimension()}, kDouble) * 0.4);
  return network;
}

// [B]: each sample's loss, sum of `direction` times its output.
Tensor losses_of(const Network& network, const Tensors& inputs, const Tensor& direction) {
  return (network.forward(inputs) * direction).flatten(1).sum(1);
}

// [B, d] by central differences.
Tensor differences(Network& network, const Tensors& inputs, const Tensor& direction) {
  constexpr double kStep = 1e-5;
  auto& parameters = network.parameters();
  auto result = torch::empty({direction.size(0), parameters.numel()}, kDouble);
  for (std::int64_t k = 0; k < parameters.numel(); ++k) {
    const double value = parameters[k].item<double>();
    parameters[k] = value + kStep;
    const auto above = losses_of(network, inputs, direction);
    parameters[k] = value - kStep;
    const auto below = losses_of(network, inputs, direction);
    parameters[k] = value;
    result.select(1, k).copy_((above - below) / (2 * kStep));
  }
  return result;
}

void check(Network network, const Tensors& inputs) {
  const auto logits = network.record(inputs);
  const auto direction = at::randn(logits.sizes(), kDouble);
  const auto expected = differences(network, inputs, direction);
  network.backward(direction);
  const auto norms = network.squared_norms();
  EXPECT_TRUE(near_relative(norms.sqrt(), expected.norm(2, {1}), 1e-7)) << "norms";

  const auto factors = at::rand({direction.size(0)}, kDouble);
  auto sum = torch::zeros({network.dimension()}, kDouble);
  network.add_clipped_sum(factors, sum);
  EXPECT_TRUE(near_relative(sum, at::mv(expected.t(), factors), 1e-7)) << "clipped sum";
  sum.zero_();
  network.add_clipped_sum({}, sum);
  EXPECT_TRUE(near_relative(sum, expected.sum(0), 1e-7)) << "plain sum";

  // The sum does not need the norms to have been asked for first.
  network.record(inputs);
  network.backward(direction);
  sum.zero_();
  network.add_clipped_sum(factors, sum);
  EXPECT_TRUE(near_relative(sum, at::mv(expected.t(), factors), 1e-7)) << "clipped sum without norms";

  // A sample that is not finite leaves the others alone.
  network.record(inputs);
  auto spoiled = direction.clone();
  spoiled[1].fill_(std::nan(""));
  network.backward(spoiled);
  const auto finite = at::isfinite(network.squared_norms());
  EXPECT_FALSE(finite[1].item<bool>());
  network.drop_samples(finite.logical_not());
  auto kept = factors.clone();
  kept[1] = 0;
  sum.zero_();
  network.add_clipped_sum(kept, sum);
  EXPECT_TRUE(near_relative(sum, at::mv(expected.t(), kept), 1e-7)) << "one sample dropped";
}

Tensor images(std::int64_t channels, std::int64_t height, std::int64_t width) {
  at::manual_seed(3);
  return at::randn({3, channels, height, width}, kDouble);
}

Tensor sequences(std::int64_t length, std::int64_t width) {
  at::manual_seed(4);
  return at::randn({3, length, width}, kDouble);
}

std::shared_ptr<Layer> conv(const Conv2dShape& shape) { return std::make_shared<Conv2d>(shape); }

TEST(LayerRules, ConvolutionInstantiated) {
  check(filled({{"conv",
                 conv({.inputs = 2, .outputs = 3, .kernel = {3, 2}, .stride = {2, 1}, .padding = {1, 2}})}}),
        {images(2, 7, 6)});
}

TEST(LayerRules, ConvolutionByGhostNorm) {
  // Two output places, long patches: the places' inner products are the cheaper way.
  check(filled({{"conv", conv({.inputs = 4, .outputs = 8, .kernel = {4, 4}, .stride = {4, 4}})}}),
        {images(4, 4, 8)});
}

TEST(LayerRules, ConvolutionWithGroupsAndDilation) {
  check(filled({{"conv", conv({.inputs = 4,
                               .outputs = 6,
                               .kernel = {2, 3},
                               .stride = {1, 2},
                               .padding = {2, 1},
                               .dilation = {2, 1},
                               .groups = 2,
                               .with_bias = false})}}),
        {images(4, 5, 7)});
}

TEST(LayerRules, DepthwiseConvolution) {
  check(filled({{"conv", conv({.inputs = 3,
                               .outputs = 3,
                               .kernel = {3, 5},
                               .stride = {1, 2},
                               .padding = {1, 2},
                               .groups = 3})}}),
        {images(3, 6, 7)});
  // More numbers in a filter than in its image: its gradients are formed all the same.
  check(
      filled({{"conv", conv({.inputs = 3, .outputs = 3, .kernel = {5, 5}, .padding = {2, 2}, .groups = 3})}}),
      {images(3, 1, 2)});
  const auto layer = conv({.inputs = 2, .outputs = 2, .kernel = {3, 3}, .padding = {1, 1}, .groups = 2});
  check(filled({{"conv", layer}, {"tanh", std::make_shared<Tanh>()}, {"conv", layer}}), {images(2, 4, 4)});
}

TEST(LayerRules, UnevenPaddingAndReluWithTwoBounds) {
  const auto places = [] {
    return Places{
        {"first", conv({.inputs = 2, .outputs = 3, .kernel = {1, 1}})},
        {"pad", std::make_shared<ZeroPad2d>(ZeroPad2d::Sides{.right = 1, .top = 1, .bottom = 2})},
        {"conv", conv({.inputs = 3, .outputs = 3, .kernel = {3, 3}, .stride = {2, 2}, .groups = 3})},
        {"relu6", std::make_shared<Relu6>()},
        {"last", conv({.inputs = 3, .outputs = 2, .kernel = {1, 1}})}};
  };
  // So large that many values lie beyond either bound.
  check(filled(places()), {images(2, 4, 5) * 20});
  const auto output = filled(places()).forward(images(2, 4, 5));
  EXPECT_EQ(output.sizes(), (std::vector<std::int64_t>{3, 2, 3, 2}));
}

// Bounds included, where the derivative is 0.
TEST(LayerRules, ReluWithTwoBoundsIsAutograds) {
  const at::AutoGradMode with_gradients(true);
  auto input = torch::tensor({-1.0, 0.0, 1e-300, 3.0, 5.999, 6.0, 7.0}, kDouble).view({1, 7});
  const auto direction = at::arange(1, 8, kDouble).view({1, 7});
  auto leaf = input.clone().requires_grad_(true);
  const auto expected = at::relu6(leaf);
  expected.backward(direction);
  const Relu6 layer;
  const auto output = layer.forward(input);
  EXPECT_TRUE(at::equal(output, expected.detach()));
  const ActivationRecord record{.inputs = {}, .output = output, .saved = {}, .output_gradient = direction};
  EXPECT_TRUE(at::equal(layer.input_gradient(record), leaf.grad()));
}

TEST(LayerRules, ConvolutionAppliedTwice) {
  const auto layer = conv({.inputs = 2, .outputs = 2, .kernel = {3, 3}, .padding = {1, 1}});
  check(filled({{"conv", layer}, {"tanh", std::make_shared<Tanh>()}, {"conv", layer}}), {images(2, 4, 4)});
}

TEST(LayerRules, ConvolutionUnderPoolingAndALinearHead) {
  check(filled({{"conv", conv({.inputs = 1, .outputs = 2, .kernel = {3, 3}})},
                {"relu", std::make_shared<Relu>()},
                {"pool", std::make_shared<MaxPool2d>(std::array<std::int64_t, 2>{2, 2},
                                                     std::array<std::int64_t, 2>{1, 1})},
                {"flatten", std::make_shared<Flatten>()},
                {"fc", std::make_shared<Linear>(18, 3)}}),
        {images(1, 6, 6)});
}

TEST(LayerRules, ConvolutionUnderAMeanOfPlaces) {
  check(filled({{"conv", conv({.inputs = 1, .outputs = 2, .kernel = {3, 3}})},
                {"mean", std::make_shared<MeanPlaces>()},
                {"fc", std::make_shared<Linear>(2, 3)}}),
        {images(1, 5, 6)});
}

// A fire module: two branches of one tensor, of different widths, put one after another; the pool's
// last windows reach beyond the image.
TEST(LayerRules, ConvolutionsOneAfterAnother) {
  using Sides = std::array<std::int64_t, 2>;
  const auto pool = std::make_shared<MaxPool2d>(Sides{3, 3}, Sides{2, 2}, MaxPool2d::Remainder::pooled);
  const auto places = [&] {
    return Places{{"squeeze", conv({.inputs = 2, .outputs = 2})},
                  {"tanh", std::make_shared<Tanh>()},
                  {"small", conv({.inputs = 2, .outputs = 1})},
                  {"large", conv({.inputs = 2, .outputs = 3, .kernel = {3, 3}, .padding = {1, 1}}), {1}},
                  {"both", std::make_shared<Concatenate>(), {2, 3, 1}},
                  {"tanh2", std::make_shared<Tanh>()},
                  {"pool", pool},
                  {"last", conv({.inputs = 6, .outputs = 2})}};
  };
  check(filled(places()), {images(2, 6, 5)});
  EXPECT_EQ(filled(places()).forward(images(2, 6, 5)).sizes(), (std::vector<std::int64_t>{3, 2, 3, 2}));
  // Of the branches one may be frozen.
  auto network = Network::make(places(), kDouble, [](const std::string& name) {
                   return name.starts_with("large") || name.starts_with("last");
                 }).value();
  network.parameters().copy_(filled(places()).parameters().slice(0, 0, network.dimension()));
  network.tensor("squeeze.weight").fill_(0.3);
  check(std::move(network), {images(2, 6, 5)});
}

TEST(LayerRules, ConcatenatedChannelsKeepTheirOrder) {
  const Concatenate layer;
  const auto one = at::ones({2, 1, 2, 2}, kDouble), two = at::full({2, 2, 2, 2}, 2, kDouble);
  ActivationRecord record{.inputs = {one, two}, .output = {}, .saved = {}, .output_gradient = {}};
  const auto output = layer.forward_recorded(record.inputs, nullptr);
  EXPECT_TRUE(at::equal(output.select(1, 0), one.select(1, 0)));
  EXPECT_TRUE(at::equal(output.narrow(1, 1, 2), two));
  record.output_gradient = at::arange(24, kDouble).view({2, 3, 2, 2});
  const auto gradients = layer.input_gradients(record, {true, true});
  EXPECT_TRUE(at::equal(gradients[0], record.output_gradient.narrow(1, 0, 1)));
  EXPECT_TRUE(at::equal(gradients[1], record.output_gradient.narrow(1, 1, 2)));
  EXPECT_FALSE(layer.input_gradients(record, {false, true})[0].defined());
  // A layer above may overwrite its gradient: not a part of another's, also of a single sample.
  const ActivationRecord alone{.inputs = {one.narrow(0, 0, 1), two.narrow(0, 0, 1)},
                               .output = {},
                               .saved = {},
                               .output_gradient = at::ones({1, 3, 2, 2}, kDouble)};
  const auto own = layer.input_gradients(alone, {true, true});
  own[0].zero_();
  EXPECT_EQ(own[1].min().item<double>(), 1);
  EXPECT_EQ(alone.output_gradient.min().item<double>(), 1);
}

TEST(LayerRules, StandardisedConvolution) {
  const auto layer = [](const Conv2dShape& shape) { return std::make_shared<StandardisedConv2d>(shape); };
  check(filled({{"conv", layer({.inputs = 2,
                                .outputs = 3,
                                .kernel = {3, 2},
                                .stride = {2, 1},
                                .padding = {1, 1},
                                .with_bias = false})}}),
        {images(2, 6, 5)});
  const auto twice =
      layer({.inputs = 2, .outputs = 2, .kernel = {3, 3}, .padding = {1, 1}, .with_bias = false});
  check(filled({{"conv", twice}, {"tanh", std::make_shared<Tanh>()}, {"conv", twice}}), {images(2, 4, 4)});
}

// Weights as LibTorch would standardise them, each output channel's sum of squares one.
TEST(LayerRules, StandardisedConvolutionIsAConvolutionWithStandardisedWeights) {
  const auto network =
      filled({{"conv", std::make_shared<StandardisedConv2d>(
                           Conv2dShape{.inputs = 2, .outputs = 3, .kernel = {2, 2}, .with_bias = false})}});
  const auto rows = network.tensor("conv.weight").flatten(1);
  const auto variance = rows.var(1, false, true) * 8;
  const auto weights = (rows - rows.mean(1, true)) / (variance + 1e-4).sqrt();
  const auto input = images(2, 5, 4);
  EXPECT_TRUE(near_relative(network.forward(input), at::conv2d(input, weights.view({3, 2, 2, 2})), 1e-12));
}

TEST(LayerRules, BareScale) {
  check(filled({{"tanh", std::make_shared<Tanh>()}, {"", std::make_shared<BareScale>("scale", 5)}}),
        {sequences(4, 5)});
  const auto twice = std::make_shared<BareScale>("scale", 3);
  check(filled({{"s", twice}, {"tanh", std::make_shared<Tanh>()}, {"s", twice}}),
        {at::randn({3, 3}, kDouble)});
}

TEST(LayerRules, LinearOnSequencesBothWays) {
  check(filled({{"fc", std::make_shared<Linear>(12, 10)}}), {sequences(3, 12)});  // ghost
  check(filled({{"fc", std::make_shared<Linear>(3, 2)}}), {sequences(6, 3)});     // instantiated
  check(filled({{"fc", std::make_shared<Linear>(3, 4, true, true)}}), {sequences(6, 3)});
}

TEST(LayerRules, LinearOnSequencesAppliedTwice) {
  const auto layer = std::make_shared<Linear>(4, 4);
  check(filled({{"fc", layer}, {"tanh", std::make_shared<Tanh>()}, {"fc", layer}}), {sequences(5, 4)});
}

TEST(LayerRules, Normalisations) {
  check(filled({{"ln", std::make_shared<LayerNorm>(5, 1e-5)}, {"fc", std::make_shared<Linear>(5, 2)}}),
        {sequences(4, 5)});
  check(filled({{"fc0", std::make_shared<Linear>(5, 4)},
                {"rms", std::make_shared<RmsNorm>(4, 1e-6)},
                {"fc", std::make_shared<Linear>(4, 2)}}),
        {sequences(4, 5)});
  check(filled({{"conv", conv({.inputs = 1, .outputs = 4, .kernel = {2, 2}})},
                {"gn", std::make_shared<GroupNorm>(2, 4, 1e-5)},
                {"mean", std::make_shared<MeanPlaces>()}}),
        {images(1, 4, 5)});
}

TEST(LayerRules, NormalisationAppliedTwice) {
  const auto layer = std::make_shared<LayerNorm>(5, 1e-5);
  check(filled({{"ln", layer}, {"tanh", std::make_shared<Tanh>()}, {"ln", layer}}), {sequences(4, 5)});
}

TEST(LayerRules, EmbeddingWithRepeatedIdsAndPadding) {
  const auto ids = torch::tensor({{1, 2, 1, 0}, {3, 3, 3, 3}, {0, 0, 2, 4}}, torch::kInt64);
  check(filled({{"emb", std::make_shared<Embedding>(5, 3)}}), {ids});
  // What the padding row is given must not count, however it is used.
  auto network = filled({{"emb", std::make_shared<Embedding>(5, 3, 0)}, {"tanh", std::make_shared<Tanh>()}});
  const auto logits = network.record(ids);
  network.backward(torch::ones_like(logits));
  auto sum = torch::zeros({network.dimension()}, kDouble);
  network.add_clipped_sum({}, sum);
  EXPECT_EQ(sum.view({5, 3})[0].abs().max().item<double>(), 0);
  EXPECT_GT(sum.view({5, 3})[1].abs().max().item<double>(), 0);
}

TEST(LayerRules, TiedEmbeddingCountsItsCrossTerms) {
  const auto ids = torch::tensor({{1, 2, 1, 0}, {3, 3, 3, 3}, {0, 0, 2, 4}}, torch::kInt64);
  const auto table = std::make_shared<Embedding>(5, 3);
  check(filled({{"emb", table}, {"fc", std::make_shared<Linear>(3, 3)}, {"emb", table}}), {ids});
}

TEST(LayerRules, TokensPositionsAndPooling) {
  const auto positions = std::make_shared<Positions>("pos", std::vector<std::int64_t>{1, 6, 3});
  check(filled({{"", std::make_shared<ClassToken>("cls", 3)},
                {"", positions},
                {"tanh", std::make_shared<Tanh>()},
                {"pool", std::make_shared<FirstToken>()}}),
        {sequences(4, 3)});
  check(filled({{"fc", std::make_shared<Linear>(3, 3)}, {"pool", std::make_shared<MeanTokens>(1)}}),
        {sequences(4, 3)});
  // The class token and the last two of nine are not read.
  check(filled({{"fc", std::make_shared<Linear>(3, 3)}, {"pool", std::make_shared<MeansOfTokens>(1, 3, 2)}}),
        {sequences(9, 3)});
  check(filled({{"fc1", std::make_shared<Linear>(3, 4)},
                {"gelu", std::make_shared<Gelu>(Gelu::Form::quick)},
                {"fc2", std::make_shared<Linear>(4, 2)}}),
        {sequences(4, 3)});
  check(filled({{"proj", conv({.inputs = 1, .outputs = 3, .kernel = {2, 2}, .stride = {2, 2}})},
                {"tokens", std::make_shared<PlacesToTokens>()},
                {"gelu", std::make_shared<Gelu>(Gelu::Form::exact)},
                {"fc", std::make_shared<Linear>(3, 2)}}),
        {images(1, 4, 6)});
  check(filled({{"fc", std::make_shared<Linear>(3, 2)},
                {"image", std::make_shared<TokensToPlaces>(2)},
                {"conv", conv({.inputs = 2, .outputs = 3, .kernel = {2, 1}})}}),
        {sequences(4, 3)});
}

TEST(LayerRules, AttentionWithMaskSharedHeadsAndRotation) {
  const auto mask = torch::tensor({{1, 1, 1, 1}, {1, 0, 1, 1}, {1, 1, 0, 0}}, torch::kInt64);
  const AttentionShape heads{.heads = 4,
                             .kv_heads = 2,
                             .head_width = 2,
                             .packed = false,
                             .causal = true,
                             .masked = true,
                             .rotary = Rotary{{0.7}}};
  check(filled({{"q", std::make_shared<Linear>(5, 8), {Network::kInput}},
                {"k", std::make_shared<Linear>(5, 4), {Network::kInput}},
                {"v", std::make_shared<Linear>(5, 4), {Network::kInput}},
                {"attention", std::make_shared<Attention>(heads), {0, 1, 2, Network::kMask}}}),
        {sequences(4, 5), mask});
}

TEST(LayerRules, PackedAttentionUnderAResidual) {
  const AttentionShape heads{.heads = 2, .kv_heads = 2, .head_width = 2};
  check(filled({{"fc", std::make_shared<Linear>(3, 4)},
                {"qkv", std::make_shared<Linear>(4, 12)},
                {"attention", std::make_shared<Attention>(heads)},
                {"add", std::make_shared<Add>(0.5), {0, 2}}}),
        {sequences(4, 3)});
}

TEST(LayerRules, GatedUnitAndTanhGelu) {
  check(filled({{"gate", std::make_shared<Linear>(3, 4), {Network::kInput}},
                {"up", std::make_shared<Linear>(3, 4), {Network::kInput}},
                {"act", std::make_shared<GatedSilu>(), {0, 1}},
                {"gelu", std::make_shared<Gelu>(Gelu::Form::tanh)},
                {"down", std::make_shared<Linear>(4, 2)}}),
        {sequences(4, 3)});
}

TEST(LayerRules, AdapterBesideAFrozenLayer) {
  at::manual_seed(7);
  graph::Builder builder(Lora{.rank = 2, .alpha = 3, .targets = {"proj"}});
  const int first = builder.linear("block.fc", {4, 4}, graph::kInput);
  builder.linear("block.proj", {4, 3}, first);
  auto network = make_network(builder.finish().value(), kDouble, [](const std::string& name) {
    return name.find("lora_") != std::string::npos;
  });
  ASSERT_TRUE(network.has_value());
  EXPECT_EQ(network->dimension(), 2 * 4 + 3 * 2);
  network->parameters().copy_(at::randn({network->dimension()}, kDouble));
  network->tensor("block.fc.weight").copy_(at::randn({4, 4}, kDouble));
  check(std::move(*network), {sequences(3, 4)});
}

TEST(LayerRules, AnAdapterWithNothingToAdaptIsAnError) {
  graph::Builder builder(Lora{.targets = {"absent"}});
  builder.linear("fc", {2, 2}, graph::kInput);
  const auto graph = builder.finish();
  ASSERT_FALSE(graph.has_value());
  EXPECT_NE(graph.error().message.find("absent"), std::string::npos);
}

TEST(LayerRules, FrozenLayersBelowCostNoBackwardPass) {
  // A layer without a gradient to its input, below all that trains, is never asked for one.
  class Blunt : public Layer {
   public:
    Tensor forward(const Tensor& input) const override { return input * 2; }
  };
  auto network = filled({{"blunt", std::make_shared<Blunt>()}, {"fc", std::make_shared<Linear>(3, 2)}});
  check(std::move(network), {sequences(4, 3)});
}

// Two positions whose parts all but cancel: what is left of the gradient is a ten-thousandth of
// them, less than the rounding of their inner products, and the clipped sum is made of it.
void expect_norm_not_too_small(std::shared_ptr<Layer> layer, std::vector<std::int64_t> one_position,
                               std::int64_t position_axis) {
  at::manual_seed(11);
  const auto single = torch::TensorOptions().dtype(torch::kFloat32);
  const auto samples = one_position[0];
  auto network = Network::make({{"layer", std::move(layer)}}, single).value();
  const auto input = at::randn(one_position, single);
  const auto gradient = at::randn(one_position, single);
  network.record(at::cat({input, input * 1.0001}, position_axis));
  network.backward(at::cat({gradient, -gradient}, position_axis));
  auto sum = torch::zeros({network.dimension()}, single);
  for (std::int64_t i = 0; i < samples; ++i) {
    auto one = torch::zeros({samples}, single);
    one[i] = 1;
    sum.zero_();
    network.add_clipped_sum(one, sum);
    EXPECT_GE(std::sqrt(network.squared_norms()[i].item<double>()), 0.999 * sum.norm().item<double>()) << i;
  }
}

TEST(LayerRules, ANormThatCancelsIsNotTooSmall) {
  expect_norm_not_too_small(std::make_shared<Linear>(64, 64, false), {200, 1, 64}, 1);
  expect_norm_not_too_small(conv({.inputs = 64, .outputs = 64, .kernel = {1, 1}, .with_bias = false}),
                            {200, 64, 1, 1}, 3);
}

// The same of a convolution whose norm is taken of gradients that are not kept: what cancels is
// what the places add up to.
TEST(LayerRules, AConvolutionsNormThatCancelsIsNotTooSmall) {
  at::manual_seed(12);
  const auto single = torch::TensorOptions().dtype(torch::kFloat32);
  const std::int64_t samples = 50;
  const Conv2dShape plain{.inputs = 2, .outputs = 3, .kernel = {3, 3}, .padding = {1, 1}, .with_bias = false};
  for (const std::shared_ptr<Layer>& layer :
       std::vector<std::shared_ptr<Layer>>{conv(plain), std::make_shared<StandardisedConv2d>(plain)}) {
    auto network = Network::make({{"conv", layer}}, single).value();
    network.parameters().normal_(0, 0.1);  // whose standardisation has scales above 1
    // One line of six places: the inner ones see equal inputs, and their gradients add up to 0 but
    // for rounding.
    auto gradient = at::zeros({samples, 3, 1, 6}, single);
    const auto half = at::randn({samples, 3, 1, 2}, single);
    gradient.narrow(3, 1, 4).copy_(at::cat({half, -half}, 3));
    const auto input = at::randn({samples, 2, 1, 1}, single).expand({samples, 2, 1, 6});
    network.record(input);
    network.backward(gradient);
    // The least that ||x_l|| ||b_l|| of the places add up to: each inner place's own input and
    // gradient.
    const auto reach =
        (input.square().sum(1).sqrt() * gradient.square().sum(1).sqrt()).flatten(1).sum(1).to(kDouble);
    EXPECT_TRUE((network.squared_norms().sqrt() >= 0.99e-5 * reach).all().item<bool>());
    for (std::int64_t i = 0; i < samples; ++i) {
      auto sum = torch::zeros({network.dimension()}, single);
      network.add_clipped_sum(torch::zeros({samples}, single).index_fill(0, torch::tensor({i}), 1), sum);
      EXPECT_GE(std::sqrt(network.squared_norms()[i].item<double>()), 0.999 * sum.norm().item<double>()) << i;
    }
  }
}

// Squares of what lies below 1e-19 vanish in float32; the other factor of a gradient may be as
// large as they are small.
TEST(LayerRules, ANormWithATinyAndAHugeFactorIsNotTooSmall) {
  at::manual_seed(13);
  const auto single = torch::TensorOptions().dtype(torch::kFloat32);
  const Conv2dShape one_place{.inputs = 6, .outputs = 64, .kernel = {3, 3}, .with_bias = false};
  struct Factors {
    const char* name;
    std::shared_ptr<Layer> layer;
    std::vector<std::int64_t> input, gradient;
  };
  const Factors cases[] = {
      {"vectors", std::make_shared<Linear>(20, 30), {4, 20}, {4, 30}},
      {"ghost norm of sequences", std::make_shared<Linear>(64, 64, false), {4, 3, 64}, {4, 3, 64}},
      {"formed of sequences", std::make_shared<Linear>(4, 5, false), {4, 30, 4}, {4, 30, 5}},
      {"ghost norm of places", conv(one_place), {4, 6, 3, 3}, {4, 64, 1, 1}},
      {"places", conv({.inputs = 2, .outputs = 3, .kernel = {3, 3}}), {4, 2, 9, 9}, {4, 3, 7, 7}}};
  for (const auto& one : cases) {
    SCOPED_TRACE(one.name);
    for (const double size : {1e-17, -1e-20, 1e-20, 1e-23, 1e17}) {
      auto network = Network::make({{"layer", one.layer}}, single).value();
      network.record(at::randn(one.input, single) / size * 1e-5);
      // As some processors and programs do, what is below the normal range is 0: in this thread,
      // which does the first samples.
      if (size < 0 && !at::globalContext().setFlushDenormal(true)) continue;
      network.backward(at::randn(one.gradient, single) * size);
      at::globalContext().setFlushDenormal(false);
      const auto norms = network.squared_norms().sqrt();
      for (std::int64_t i = 0; i < 4; ++i) {
        auto sum = torch::zeros({network.dimension()}, single);
        network.add_clipped_sum(torch::zeros({4}, single).index_fill(0, torch::tensor({i}), 1), sum);
        const double real = sum.to(kDouble).norm().item<double>();
        EXPECT_GE(norms[i].item<double>(), 0.9999 * real) << size;
      }
    }
  }
}

// The kernel adds up the places one after another: what is left beside two large inputs that cancel
// depends on the order.
TEST(LayerRules, AConvolutionsNormThatCancelsBetweenATinyAndAHugeFactorIsNotTooSmall) {
  const auto single = torch::TensorOptions().dtype(torch::kFloat32);
  for (const double size : {1e18, 1e30}) {
    auto network =
        Network::make({{"conv", conv({.inputs = 4, .outputs = 64, .kernel = {4, 4}, .stride = {4, 4}})}},
                      single)
            .value();
    auto places = torch::full({25}, 2e-8 * size, single);
    places[0] = size;
    places[24] = -size;
    auto input = torch::zeros({1, 4, 20, 20}, single);
    input.select(1, 0).slice(1, 0, 20, 4).slice(2, 0, 20, 4).copy_(places.view({1, 5, 5}));
    const double tiny = 2e-23;
    network.record(input);
    network.backward(torch::full({1, 64, 5, 5}, tiny, single));
    // In exact arithmetic; any order of the additions is off by no more than their rounding at the
    // size of the largest.
    const double rest = 23 * 2e-8 * size * tiny * 8;
    const double norm = std::sqrt(network.squared_norms()[0].item<double>());
    EXPECT_TRUE(norm >= rest || !std::isfinite(norm)) << size << ": " << norm << " of " << rest;
  }
}

TEST(LayerRules, AConvolutionOfABatchOfNobodyAddsNothing) {
  const auto single = torch::TensorOptions().dtype(torch::kFloat32);
  for (const std::int64_t outputs : {2, 64}) {
    auto network =
        Network::make({{"conv", conv({.inputs = 4, .outputs = outputs, .kernel = {3, 3}})}}, single).value();
    for (const bool clipped : {false, true}) {
      auto sum = torch::ones({network.dimension()}, single);
      network.record(torch::zeros({0, 4, 6, 6}, single));
      const auto gradient = torch::zeros({0, outputs, 4, 4}, single);
      if (clipped) {
        network.backward(gradient);
        network.add_clipped_sum(torch::zeros({0}, single), sum);
      } else {
        network.backward_sum(gradient, sum);
      }
      EXPECT_TRUE(at::equal(sum, torch::ones_like(sum)));
    }
  }
}

}  // namespace layers_test
}  // namespace hyfreedp::models
