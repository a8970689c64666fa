// Every layer on a GPU against itself on the CPU: outputs, per-sample norms, clipped sums. Skips
// loudly where there is no device; that the comparison itself works is shown by the same layers in
// float32 against float64.
#include <functional>
#include <gtest/gtest.h>

#include "harness/models/layers/activation.h"
#include "harness/models/layers/attention.h"
#include "harness/models/layers/bare.h"
#include "harness/models/layers/embedding.h"
#include "harness/models/layers/linear.h"
#include "harness/models/layers/network.h"
#include "harness/models/layers/normalisation.h"
#include "harness/models/layers/shape.h"
#include "harness/models/layers/standardised_conv2d.h"
#include "tests/models/compare.h"
#include "tests/need_device.h"

namespace hyfreedp::models {
namespace device_layers_test {

using torch::Tensor;
using Places = std::vector<Network::Place>;

constexpr std::int64_t kSamples = 5;
const auto kDouble = torch::TensorOptions().dtype(torch::kFloat64);

struct LayerCase {
  std::string name;
  std::function<Places()> places;
  Tensor input;
};

Tensor sequences(std::int64_t length, std::int64_t width) {
  return at::randn({kSamples, length, width}, kDouble);
}
Tensor images(std::int64_t channels, std::int64_t side) {
  return at::randn({kSamples, channels, side, side}, kDouble);
}

template <class L, class... Args>
std::function<Places()> single(Args... args) {
  return [=] { return Places{{"layer", std::make_shared<L>(args...)}}; };
}

// Applied, through a tanh, to its own output.
template <class L, class... Args>
std::function<Places()> twice(Args... args) {
  return [=] {
    const auto layer = std::make_shared<L>(args...);
    return Places{{"layer", layer}, {"tanh", std::make_shared<Tanh>()}, {"layer", layer}};
  };
}

Places pooled() {
  return {{"conv", std::make_shared<Conv2d>(Conv2dShape{.inputs = 2, .outputs = 6, .kernel = {3, 3}})},
          {"gn", std::make_shared<GroupNorm>(3, 6, 1e-5)},
          {"relu", std::make_shared<Relu>()},
          {"pad", std::make_shared<ZeroPad2d>(ZeroPad2d::Sides{.left = 1, .bottom = 1})},
          {"depthwise", std::make_shared<Conv2d>(Conv2dShape{
                            .inputs = 6, .outputs = 6, .kernel = {3, 3}, .padding = {1, 1}, .groups = 6})},
          {"relu6", std::make_shared<Relu6>()},
          {"max",
           std::make_shared<MaxPool2d>(std::array<std::int64_t, 2>{2, 2}, std::array<std::int64_t, 2>{1, 1})},
          {"mean", std::make_shared<MeanPlaces>()},
          {"fc", std::make_shared<Linear>(6, 3)}};
}

Places tied() {
  const auto table = std::make_shared<Embedding>(11, 6);
  return {{"emb", table},
          {"pos", std::make_shared<Positions>("weight", std::vector<std::int64_t>{9, 6})},
          {"fc", std::make_shared<Linear>(6, 6)},
          {"emb", table}};
}

Places transformer(const AttentionShape& heads) {
  return {
      {"", std::make_shared<ClassToken>("cls", 8)},       {"ln", std::make_shared<LayerNorm>(8, 1e-5)},
      {"qkv", std::make_shared<Linear>(8, 24)},           {"attention", std::make_shared<Attention>(heads)},
      {"add", std::make_shared<Add>(), {0, 3}},           {"rms", std::make_shared<RmsNorm>(8, 1e-6)},
      {"gelu", std::make_shared<Gelu>(Gelu::Form::tanh)}, {"scale", std::make_shared<BareScale>("scale", 8)},
      {"first", std::make_shared<FirstToken>()}};
}

std::vector<LayerCase> layer_cases() {
  at::manual_seed(21);
  const Conv2dShape strided{.inputs = 2, .outputs = 3, .kernel = {3, 2}, .stride = {2, 1}, .padding = {1, 2}};
  const Conv2dShape grouped{.inputs = 4,
                            .outputs = 6,
                            .kernel = {2, 3},
                            .padding = {2, 1},
                            .dilation = {2, 1},
                            .groups = 2,
                            .with_bias = false};
  const Conv2dShape by_places{.inputs = 16, .outputs = 32, .kernel = {4, 4}, .stride = {4, 4}};
  const Conv2dShape same{.inputs = 2, .outputs = 2, .kernel = {3, 3}, .padding = {1, 1}, .with_bias = false};
  const AttentionShape heads{.heads = 2, .kv_heads = 2, .head_width = 4, .causal = true};
  return {
      {"linear", single<Linear>(7, 5), at::randn({kSamples, 7}, kDouble)},
      {"linear on sequences, ghost norm", single<Linear>(70, 66), sequences(33, 70)},
      {"linear on sequences, formed", single<Linear>(3, 4), sequences(65, 3)},
      {"linear transposed, twice", twice<Linear>(20, 20, true, true), sequences(4, 20)},
      {"embedding", single<Embedding>(7, 300), at::randint(7, {kSamples, 70}, torch::kInt64)},
      {"embedding with padding", single<Embedding>(7, 5, 2), at::randint(7, {kSamples, 12}, torch::kInt64)},
      {"tied embedding", tied, at::randint(11, {kSamples, 9}, torch::kInt64)},
      {"convolution", single<Conv2d>(strided), images(2, 7)},
      {"convolution with groups", single<Conv2d>(grouped), images(4, 7)},
      {"convolution by places", single<Conv2d>(by_places), images(16, 8)},
      {"convolution twice", twice<Conv2d>(same), images(2, 5)},
      {"standardised convolution", single<StandardisedConv2d>(same), images(2, 6)},
      {"standardised convolution twice", twice<StandardisedConv2d>(same), images(2, 6)},
      {"pooling", pooled, images(2, 8)},
      {"transformer", [=] { return transformer(heads); }, sequences(6, 8)}};
}

struct Seen {
  Tensor logits, norms, sum, plain;
};

Tensor moved(const Tensor& values, const torch::TensorOptions& options) {
  return values.is_floating_point() ? values.to(options) : values.to(options.device());
}

Seen seen_on(const LayerCase& of, const torch::TensorOptions& options) {
  auto network = Network::make(of.places(), options).value();
  at::manual_seed(22);
  network.parameters().copy_(at::randn({network.dimension()}, kDouble) * 0.4);
  Seen seen;
  seen.logits = network.record({moved(of.input, options)});
  const auto direction = moved(at::randn(seen.logits.sizes(), kDouble), options);
  const auto factors = moved(at::rand({kSamples}, kDouble), options);
  network.backward(direction);
  seen.norms = network.squared_norms();
  seen.sum = torch::zeros({network.dimension()}, options);
  network.add_clipped_sum(factors, seen.sum);
  network.record({moved(of.input, options)});
  seen.plain = torch::zeros({network.dimension()}, options);
  network.backward_sum(direction, seen.plain);
  return seen;
}

void expect_near(const Seen& got, const Seen& expected, double tolerance) {
  EXPECT_TRUE(near_relative(got.logits, expected.logits, tolerance)) << "outputs";
  EXPECT_TRUE(near_relative(got.norms, expected.norms, tolerance)) << "norms";
  EXPECT_TRUE(near_relative(got.sum, expected.sum, tolerance)) << "clipped sum";
  EXPECT_TRUE(near_relative(got.plain, expected.plain, tolerance)) << "plain sum";
}

TEST(LayersOnTwoPaths, Float32IsNearFloat64) {
  for (const auto& of : layer_cases()) {
    SCOPED_TRACE(of.name);
    expect_near(seen_on(of, torch::kFloat32), seen_on(of, kDouble), 1e-5);
  }
}

TEST(DeviceLayers, OutputsNormsAndSumsAreTheCpus) {
  HYFREEDP_NEED_DEVICE();
  for (const auto& of : layer_cases()) {
    SCOPED_TRACE(of.name);
    const auto expected = seen_on(of, kDouble);
    expect_near(seen_on(of, kDouble.device(torch::kCUDA)), expected, 1e-11);
    expect_near(seen_on(of, kDouble.device(torch::kCUDA).dtype(torch::kFloat32)), expected, 1e-5);
  }
}

bool same_bits(const Seen& a, const Seen& b) {
  return a.logits.equal(b.logits) && a.norms.equal(b.norms) && a.sum.equal(b.sum) && a.plain.equal(b.plain);
}

TEST(DeviceLayers, AreRepeatedBitForBit) {
  HYFREEDP_NEED_DEVICE();
  at::globalContext().setDeterministicAlgorithms(
      true, false);  // an operation without a deterministic kernel throws
  const auto options = torch::TensorOptions(torch::kCUDA).dtype(torch::kFloat32);
  for (const auto& of : layer_cases()) {
    EXPECT_TRUE(same_bits(seen_on(of, options), seen_on(of, options))) << of.name;
  }
  at::globalContext().setDeterministicAlgorithms(false, false);
}

}  // namespace device_layers_test
}  // namespace hyfreedp::models
