#include "harness/models/layers/network.h"

#include <gtest/gtest.h>

#include "harness/models/facts/facts.h"
#include "harness/models/layers/activation.h"
#include "harness/models/layers/linear.h"
#include "harness/models/layers/loss.h"
#include "harness/models/model.h"
#include "tests/models/compare.h"

namespace hyfreedp::models {
namespace network_test {

using torch::Tensor;

const random::Key kKey = random::key_from_seed("tests of models");

json::object options_of(const std::string& model, const json::object& given) {
  return resolve_options(find_model(model).value()->options, given, model).value();
}

Network make_mlp(const std::string& activation, torch::ScalarType dtype = torch::kFloat64) {
  const auto options =
      options_of("mlp", {{"hidden", json::array{7, 5}}, {"activation", activation}, {"last_layer", "he"}});
  return make_model("mlp", options, {.features = 11, .classes = 4}, kKey, dtype).value();
}

Tensor some_inputs(std::int64_t samples) {
  std::vector<double> values(static_cast<std::size_t>(samples) * 11);
  random::fill_normals(kKey, {.step = 1}, 0, values);
  return torch::tensor(values, torch::kFloat64).view({samples, 11});
}

Tensor some_labels(std::int64_t samples) { return torch::arange(samples, torch::kInt64).remainder(4); }

// The same network written with LibTorch's own operations, differentiated by autograd.
Tensor autograd_sum(const Network& network, const std::string& activation, const Tensor& inputs,
                    const Tensor& labels) {
  const at::AutoGradMode with_gradients(true);
  std::vector<Tensor> leaves;
  for (const auto& slice : network.layout()) {
    leaves.push_back(network.tensor(slice.name).clone().requires_grad_(true));
  }
  Tensor value = inputs;
  for (std::size_t layer = 0; layer < leaves.size(); layer += 2) {
    value = at::linear(value, leaves[layer], leaves[layer + 1]);
    if (layer + 2 < leaves.size()) value = activation == "tanh" ? value.tanh() : value.relu();
  }
  at::nll_loss(at::log_softmax(value, 1), labels, {}, at::Reduction::Sum).backward();
  std::vector<Tensor> flat;
  for (const auto& leaf : leaves) flat.push_back(leaf.grad().reshape({-1}));
  return at::cat(flat);
}

void record(Network& network, const Tensor& inputs, const Tensor& labels) {
  const auto logits = network.record(inputs);
  network.backward(sample_losses(Loss::cross_entropy, logits, labels, true).logit_gradient);
}

TEST(Network, SumWithoutFactorsIsPlainAutograd) {
  for (const std::string activation : {"tanh", "relu"}) {
    auto network = make_mlp(activation);
    const auto inputs = some_inputs(9);
    const auto labels = some_labels(9);
    record(network, inputs, labels);
    auto sum = torch::zeros({network.dimension()}, torch::kFloat64);
    network.add_clipped_sum({}, sum);
    EXPECT_TRUE(near_relative(sum, autograd_sum(network, activation, inputs, labels), 1e-12)) << activation;
  }
}

TEST(Network, NormsAreThoseOfSingleSamples) {
  auto network = make_mlp("tanh");
  const auto inputs = some_inputs(6);
  const auto labels = some_labels(6);
  record(network, inputs, labels);
  const auto norms = network.squared_norms().sqrt();
  for (std::int64_t i = 0; i < 6; ++i) {
    const auto gradient = autograd_sum(network, "tanh", inputs.narrow(0, i, 1), labels.narrow(0, i, 1));
    EXPECT_NEAR(norms[i].item<double>(), gradient.norm().item<double>(), 1e-12);
  }
}

TEST(Network, SharedLayerCountsCrossTerms) {
  const auto shared = std::make_shared<Linear>(11, 11);
  auto network = Network::make({{"shared", shared},
                                {"tanh", std::make_shared<Tanh>()},
                                {"shared", shared},
                                {"head", std::make_shared<Linear>(11, 4)}},
                               torch::kFloat64)
                     .value();
  EXPECT_EQ(network.dimension(), 11 * 12 + 4 * 12);
  std::vector<double> weights(static_cast<std::size_t>(network.dimension()));
  random::fill_normals(kKey, {.step = 2}, 0, weights);
  network.parameters().copy_(torch::tensor(weights, torch::kFloat64) * 0.3);

  const auto inputs = some_inputs(5);
  record(network, inputs, some_labels(5));
  const auto norms = network.squared_norms().sqrt();
  for (std::int64_t i = 0; i < 5; ++i) {
    auto one = torch::zeros({5}, torch::kFloat64);
    one[i] = 1;
    auto gradient = torch::zeros({network.dimension()}, torch::kFloat64);
    network.add_clipped_sum(one, gradient);
    EXPECT_NEAR(norms[i].item<double>(), gradient.norm().item<double>(), 1e-12);
  }
}

// One factor a sample, a row of factors a layer, or none.
TEST(Network, TakingTheSumIsAddingItOnce) {
  const auto some = torch::tensor({0.5, 1.0, 0.0, 0.25, 2.0}, torch::kFloat64);
  for (const auto& factors : {Tensor(), some, at::stack({some, 1 + some, 2 - some})}) {
    auto network = make_mlp("tanh");
    record(network, some_inputs(5), some_labels(5));
    auto added = torch::ones({network.dimension()}, torch::kFloat64);
    auto taken = added.clone();
    if (factors.defined() && factors.dim() == 2) {
      network.add_clipped_sum_by_layer(factors, added);
    } else {
      network.add_clipped_sum(factors, added);
    }
    EXPECT_GT(network.activation_records(), 0);
    network.take_clipped_sum(factors, taken);
    EXPECT_TRUE(at::equal(taken, added));
    EXPECT_EQ(network.activation_records(), 0);
    EXPECT_THROW(network.take_clipped_sum(factors, taken), std::exception) << "nothing would be added";
  }
}

TEST(Network, FrozenParametersTakeNoPart) {
  const auto head_only = [](const std::string& name) { return name.starts_with("fc2"); };
  auto network = Network::make({{"fc1", std::make_shared<Linear>(11, 6)},
                                {"relu", std::make_shared<Relu>()},
                                {"fc2", std::make_shared<Linear>(6, 4)}},
                               torch::kFloat64, head_only)
                     .value();
  EXPECT_EQ(network.dimension(), 4 * 7);
  EXPECT_EQ(network.layout().front().name, "fc2.weight");
  EXPECT_EQ(network.frozen_layout().size(), 2U);
  EXPECT_EQ(network.tensor("fc1.weight").numel(), 66);
  EXPECT_FALSE(network.tensor("fc3.weight").defined());
}

TEST(Network, NonFiniteSampleIsSeenAndCanBeDropped) {
  for (const double poison :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    auto network = make_mlp("tanh");
    auto inputs = some_inputs(6);
    const auto labels = some_labels(6);
    record(network, inputs, labels);
    auto weights = torch::ones({6}, torch::kFloat64);
    weights[2] = 0;
    auto expected = torch::zeros({network.dimension()}, torch::kFloat64);
    network.add_clipped_sum(weights, expected);

    inputs[2][3] = poison;
    record(network, inputs, labels);
    const auto finite = at::isfinite(network.squared_norms());
    EXPECT_FALSE(finite[2].item<bool>());
    EXPECT_EQ(finite.sum().item<std::int64_t>(), 5);
    network.drop_samples(finite.logical_not());
    auto sum = torch::zeros({network.dimension()}, torch::kFloat64);
    network.add_clipped_sum({}, sum);
    EXPECT_TRUE(near_relative(sum, expected, 1e-12));
  }
}

// A layer that trains a parameter and has no rule for it.
class Scale : public Layer {
 public:
  std::vector<ParameterSpec> parameters() const override { return {{"scale", {1}}}; }
  void bind(std::vector<BoundParameter> parameters) override { scale_ = parameters.at(0).value; }
  Tensor forward(const Tensor& input) const override { return input * scale_; }
  Tensor input_gradient(const ActivationRecord& record) const override {
    return record.output_gradient * scale_;
  }

 private:
  Tensor scale_;
};

TEST(Network, ParameterWithoutRuleIsRefusedByName) {
  const std::vector<Network::Place> places = {{"fc", std::make_shared<Linear>(3, 3)},
                                              {"gain", std::make_shared<Scale>()}};
  const auto made = Network::make(places, torch::kFloat32);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("gain.scale"), std::string::npos) << made.error().message;
  EXPECT_EQ(made.error().message.find("fc.weight"), std::string::npos);
  const auto frozen =
      Network::make(places, torch::kFloat32, [](const auto& name) { return name != "gain.scale"; });
  EXPECT_TRUE(frozen);
}

// Centres each feature over the batch, as BatchNorm does.
class Centre : public Layer {
 public:
  bool mixes_samples() const override { return true; }
  Tensor forward(const Tensor& input) const override { return input - input.mean(0, true); }
};

TEST(Network, ALayerThatMixesSamplesIsRefusedByName) {
  const auto made =
      Network::make({{"fc", std::make_shared<Linear>(3, 3)}, {"bn1", std::make_shared<Centre>()}},
                    torch::kFloat32, [](const auto&) { return false; });
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("'bn1'"), std::string::npos) << made.error().message;
  EXPECT_NE(made.error().message.find("BatchNorm"), std::string::npos);
}

TEST(Network, TwoLayersOfOneNameAreRefused) {
  const auto made = Network::make(
      {{"fc", std::make_shared<Linear>(3, 3)}, {"fc", std::make_shared<Linear>(3, 3)}}, torch::kFloat32);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("'fc'"), std::string::npos);
}

TEST(Model, PartsOfTheConvolutionalNetworkTrainAlone) {
  for (const auto* part : {"full", "head", "bitfit"}) {
    const auto options = options_of("cnn", {{"trainable", part}});
    const auto network = make_model("cnn", options, {.features = 784, .classes = 10}, kKey, torch::kFloat32);
    ASSERT_TRUE(network) << part;
    EXPECT_EQ(network->dimension(), parameter_count("cnn", options, {.features = 784, .classes = 10}).value())
        << part;
    // The same initial weights whatever trains, the first convolution's not zero.
    EXPECT_GT(network->tensor("conv1.weight").abs().max().item<double>(), 0) << part;
  }
  EXPECT_EQ(parameter_count("cnn", options_of("cnn", {}), {.features = 784, .classes = 10}).value(), 26010);
  // 14 x 14 places of 16 filters of 8 x 8, 5 x 5 of 32 of 16 x 4 x 4, then two linear layers.
  EXPECT_EQ(weight_uses("cnn", options_of("cnn", {}), {.features = 784, .classes = 10}).value(),
            196 * 16 * 65 + 25 * 32 * 257 + 32 * 513 + 10 * 33);
}

TEST(Model, FeaturesThatAreNoImageAreRefused) {
  for (const std::int64_t features : {716, 100}) {
    const auto count = parameter_count("cnn", options_of("cnn", {}), {.features = features, .classes = 10});
    ASSERT_FALSE(count) << features;
    EXPECT_NE(count.error().message.find("image"), std::string::npos) << count.error().message;
  }
}

TEST(Model, UnknownNameSuggestsTheNearest) {
  const auto made = make_model("lineer", {}, {.features = 2, .classes = 2}, kKey, torch::kFloat32);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("linear"), std::string::npos);
}

TEST(Model, InitialWeightsComeFromTheKey) {
  const auto options = options_of("mlp", {{"hidden", json::array{400}}});
  const auto make = [&](const char* seed) {
    return make_model("mlp", options, {.features = 200, .classes = 10}, random::key_from_seed(seed),
                      torch::kFloat32)
        .value();
  };
  const auto first = make("a");
  EXPECT_TRUE(at::equal(first.parameters(), make("a").parameters()));
  EXPECT_FALSE(at::equal(first.parameters(), make("b").parameters()));
  EXPECT_EQ(first.tensor("fc2.weight").abs().max().item<float>(), 0);
  EXPECT_EQ(first.tensor("fc1.bias").abs().max().item<float>(), 0);
  // 80 000 draws: the sample deviation is within 1 % of sqrt(2 / 200) except with probability 1e-4.
  EXPECT_NEAR(first.tensor("fc1.weight").std().item<double>(), 0.1, 0.001);
}

TEST(Loss, IgnoredLabelHasNoLossAndNoGradient) {
  const auto logits = torch::tensor({{1.0, 2.0}, {3.0, -1.0}}, torch::kFloat64);
  const auto result =
      sample_losses(Loss::cross_entropy, logits, torch::tensor({kNotScored, std::int64_t{0}}), true);
  EXPECT_EQ(result.losses[0].item<double>(), 0);
  EXPECT_EQ(result.logit_gradient[0].abs().max().item<double>(), 0);
  EXPECT_NEAR(result.losses[1].item<double>(), std::log1p(std::exp(-4.0)), 1e-15);
}

TEST(Loss, LargeLogitsDoNotOverflow) {
  const auto logits = torch::tensor({{800.0}, {-800.0}}, torch::kFloat64);
  const auto labels = torch::tensor({std::int64_t{0}, std::int64_t{1}});
  const auto result = sample_losses(Loss::binary_cross_entropy, logits, labels, true);
  EXPECT_EQ(result.losses[0].item<double>(), 800);
  EXPECT_EQ(result.losses[1].item<double>(), 800);
  EXPECT_EQ(result.logit_gradient[0][0].item<double>(), 1);
}

TEST(Loss, SquaredErrorHasTheGradientOfFiniteDifferences) {
  const auto outputs = torch::tensor({{1.5}, {-2.0}, {0.0}}, torch::kFloat64);
  const auto labels = torch::tensor({1.0F, 3.0F, 0.0F});
  const auto result = sample_losses(Loss::squared, outputs, labels, true);
  const double h = 1e-6;
  const auto above = sample_losses(Loss::squared, outputs + h, labels, false).losses;
  const auto below = sample_losses(Loss::squared, outputs - h, labels, false).losses;
  const double expected[] = {0.25, 25, 0};
  for (std::int64_t i = 0; i < 3; ++i) {
    EXPECT_DOUBLE_EQ(result.losses[i].item<double>(), expected[i]);
    EXPECT_NEAR(result.logit_gradient[i][0].item<double>(), (above[i] - below[i]).item<double>() / (2 * h),
                1e-8);
  }
}

}  // namespace network_test
}  // namespace hyfreedp::models
