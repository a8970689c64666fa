// Copies of samples and narrow compute types: what the network does to a recorded pass before the
// layers' rules see it.
#include <gtest/gtest.h>
#include <torch/types.h>

#include "harness/models/layers/activation.h"
#include "harness/models/layers/attention.h"
#include "harness/models/layers/conv2d.h"
#include "harness/models/layers/embedding.h"
#include "harness/models/layers/linear.h"
#include "harness/models/layers/network.h"
#include "harness/models/layers/normalisation.h"
#include "harness/models/layers/shape.h"
#include "tests/models/compare.h"

namespace hyfreedp::models {
namespace copies_test {

using torch::Tensor;
using Places = std::vector<Network::Place>;

constexpr std::int64_t kSamples = 3;
constexpr std::int64_t kCopies = 4;

struct Case {
  std::string name;
  Places places;
  Tensor input;  // [kCopies * kSamples, ...]
};

Tensor normals(std::vector<std::int64_t> sizes) {
  sizes.insert(sizes.begin(), kCopies * kSamples);
  return at::randn(sizes, torch::kFloat64);
}

std::vector<Case> cases() {
  at::manual_seed(3);
  const auto table = std::make_shared<Embedding>(5, 3);
  const AttentionShape heads{.heads = 2, .kv_heads = 2, .head_width = 2};
  std::vector<Case> found;
  found.push_back({"perceptron",
                   {{"fc1", std::make_shared<Linear>(7, 5)},
                    {"tanh", std::make_shared<Tanh>()},
                    {"fc2", std::make_shared<Linear>(5, 3)}},
                   normals({7})});
  // So few weights that forming each sample's gradient is the cheaper way.
  found.push_back({"small layer", {{"fc", std::make_shared<Linear>(2, 2)}}, normals({2})});
  found.push_back(
      {"convolutions",
       {{"conv1", std::make_shared<Conv2d>(Conv2dShape{.inputs = 2, .outputs = 4, .kernel = {3, 3}})},
        {"gn", std::make_shared<GroupNorm>(2, 4, 1e-5)},
        {"relu", std::make_shared<Relu>()},
        {"pool",
         std::make_shared<MaxPool2d>(std::array<std::int64_t, 2>{2, 2}, std::array<std::int64_t, 2>{1, 1})},
        {"conv2", std::make_shared<Conv2d>(Conv2dShape{.inputs = 4, .outputs = 8, .kernel = {3, 3}})},
        {"flatten", std::make_shared<Flatten>()},
        {"fc", std::make_shared<Linear>(8, 3)}},
       normals({2, 6, 6})});
  found.push_back({"transformer",
                   {{"", std::make_shared<ClassToken>("cls", 4)},
                    {"", std::make_shared<Positions>("pos", std::vector<std::int64_t>{1, 6, 4})},
                    {"ln", std::make_shared<LayerNorm>(4, 1e-5)},
                    {"qkv", std::make_shared<Linear>(4, 12)},
                    {"attention", std::make_shared<Attention>(heads)},
                    {"add", std::make_shared<Add>(), {1, 4}},
                    {"rms", std::make_shared<RmsNorm>(4, 1e-6)},
                    {"pool", std::make_shared<FirstToken>()},
                    {"head", std::make_shared<Linear>(4, 3)}},
                   normals({5, 4})});
  // So many that the inner products of its positions are.
  found.push_back({"wide layer of a sequence",
                   {{"wide", std::make_shared<Linear>(64, 48)},
                    {"pool", std::make_shared<FirstToken>()},
                    {"head", std::make_shared<Linear>(48, 3)}},
                   normals({5, 64})});
  found.push_back({"tied embedding",
                   {{"emb", table}, {"fc", std::make_shared<Linear>(3, 3)}, {"emb", table}},
                   at::randint(0, 5, {kCopies * kSamples, 4}, torch::kInt64)});
  return found;
}

Network filled(Places places, torch::ScalarType dtype) {
  auto network = Network::make(std::move(places), torch::TensorOptions().dtype(dtype)).value();
  at::manual_seed(7);
  network.parameters().copy_(at::randn({network.dimension()}, torch::kFloat64) * 0.4);
  return network;
}

// [kSamples, d]: each sample's gradient by a double loop over samples and copies.
Tensor one_by_one(Network& network, const Tensor& input, const Tensor& direction) {
  auto gradients = torch::zeros({kSamples, network.dimension()}, torch::kFloat64);
  for (std::int64_t i = 0; i < kSamples; ++i) {
    auto row = gradients[i];
    for (std::int64_t m = 0; m < kCopies; ++m) {
      network.record(input.narrow(0, m * kSamples + i, 1));
      network.backward(direction.narrow(0, m * kSamples + i, 1));
      network.add_clipped_sum({}, row);
    }
  }
  return gradients;
}

TEST(Copies, AddUpToOneGradientASample) {
  for (auto& one : cases()) {
    SCOPED_TRACE(one.name);
    auto network = filled(one.places, torch::kFloat64);
    const auto logits = network.record({one.input}, kCopies);
    const auto direction = at::randn(logits.sizes(), torch::kFloat64);
    network.backward(direction);
    const auto norms = network.squared_norms();
    const auto factors = at::rand({kSamples}, torch::kFloat64);
    auto sum = torch::zeros({network.dimension()}, torch::kFloat64);
    network.add_clipped_sum(factors, sum);
    network.record({one.input}, kCopies);
    network.backward(direction);
    auto without_norms = torch::zeros_like(sum);
    network.add_clipped_sum(factors, without_norms);

    const auto gradients = one_by_one(network, one.input, direction);
    EXPECT_TRUE(near_relative(norms, gradients.square().sum(1), 1e-10));
    EXPECT_TRUE(near_relative(sum, at::mv(gradients.t(), factors), 1e-10));
    EXPECT_TRUE(near_relative(without_norms, sum, 1e-10));
  }
}

TEST(Copies, ASampleWithACopyThatIsNotFiniteIsDroppedWhole) {
  for (auto& one : cases()) {
    SCOPED_TRACE(one.name);
    auto network = filled(one.places, torch::kFloat64);
    const auto logits = network.record({one.input}, kCopies);
    auto direction = at::randn(logits.sizes(), torch::kFloat64);
    const auto gradients = [&] {
      auto kept = direction.clone();
      for (std::int64_t m = 0; m < kCopies; ++m) kept[m * kSamples + 1].zero_();
      return one_by_one(network, one.input, kept);
    }();
    direction[2 * kSamples + 1].fill_(std::nan(""));
    network.record({one.input}, kCopies);
    network.backward(direction);
    const auto finite = at::isfinite(network.squared_norms());
    EXPECT_TRUE(at::equal(finite, torch::tensor({true, false, true})));
    network.drop_samples(finite.logical_not());
    auto sum = torch::zeros({network.dimension()}, torch::kFloat64);
    network.add_clipped_sum(torch::ones({kSamples}, torch::kFloat64), sum);
    EXPECT_TRUE(near_relative(sum, gradients.sum(0), 1e-10));
  }
}

// Whichever places are computed again, in either type: the very bits.
TEST(Checkpoints, ChangeNoBit) {
  for (auto& one : cases()) {
    const auto input = one.input.is_floating_point() ? one.input.to(torch::kFloat32) : one.input;
    auto network = filled(one.places, torch::kFloat32);
    const auto pass = [&] {
      const auto logits = network.record({input}, kCopies);
      const auto records = network.activation_records();
      at::manual_seed(11);
      network.backward(at::randn(logits.sizes(), torch::kFloat32));
      auto sum = torch::zeros({network.dimension()}), unclipped = sum.clone();
      network.take_clipped_sum(1 / network.squared_norm_bounds().sqrt().to(torch::kFloat32), sum);
      at::manual_seed(11);
      network.backward_sum(at::randn(network.record({input}).sizes(), torch::kFloat32), unclipped);
      return std::pair{records, at::cat({logits.flatten(), sum, unclipped})};
    };
    for (const auto type : {torch::kFloat32, torch::kBFloat16}) {
      network.set_compute_type(type);
      network.checkpoint_blocks(false);
      const auto [all_records, all_kept] = pass();
      for (std::size_t first = 0; first < one.places.size(); ++first) {
        for (auto last = first; last < one.places.size(); ++last) {
          SCOPED_TRACE(one.name + " " + std::to_string(first) + " " + std::to_string(last));
          network.set_blocks({{first, last}});
          network.checkpoint_blocks(true);
          const auto [records, values] = pass();
          EXPECT_EQ(records, all_records - static_cast<std::int64_t>(last - first) - 1);
          EXPECT_TRUE(at::equal(values, all_kept));
        }
      }
      if (one.places.size() < 4) continue;
      SCOPED_TRACE(one.name);
      network.set_blocks({{0, 1}, {2, 2}, {3, one.places.size() - 1}});
      network.checkpoint_blocks(true);
      EXPECT_TRUE(at::equal(pass().second, all_kept));
      network.set_blocks({});
    }
  }
}

// bfloat16 has 8 bits: a pass is off by some parts in a hundred, and its norms are those of its own
// gradients to float32.
TEST(ComputeType, NarrowPassesAreCloseAndConsistent) {
  for (auto& one : cases()) {
    SCOPED_TRACE(one.name);
    const auto input = one.input.is_floating_point() ? one.input.to(torch::kFloat32) : one.input;
    auto network = filled(one.places, torch::kFloat32);
    const auto run = [&](torch::ScalarType type) {
      network.set_compute_type(type);
      const auto logits = network.record({input}, kCopies);
      EXPECT_EQ(logits.scalar_type(), torch::kFloat32);
      EXPECT_TRUE(at::equal(network.forward(input), logits));
      at::manual_seed(11);
      network.backward(at::randn(logits.sizes(), torch::kFloat32));
      const auto norms = network.squared_norms();
      EXPECT_EQ(norms.scalar_type(), torch::kFloat64);
      auto gradients = torch::zeros({kSamples, network.dimension()});
      for (std::int64_t i = 0; i < kSamples; ++i) {
        auto row = gradients[i];
        network.add_clipped_sum(at::one_hot(torch::tensor(i), kSamples).to(torch::kFloat32), row);
      }
      EXPECT_TRUE(near_relative(norms, gradients.to(torch::kFloat64).square().sum(1), 1e-5));
      return std::pair{logits, gradients};
    };
    const auto [logits, gradients] = run(torch::kFloat32);
    const auto [narrow_logits, narrow_gradients] = run(torch::kBFloat16);
    EXPECT_FALSE(at::equal(logits, narrow_logits));
    EXPECT_TRUE(near_relative(narrow_logits, logits, 0.05));
    EXPECT_TRUE(near_relative(narrow_gradients, gradients, 0.1));
    // And back: the very bits of before.
    const auto [again, gradients_again] = run(torch::kFloat32);
    EXPECT_TRUE(at::equal(again, logits));
    EXPECT_TRUE(at::equal(gradients_again, gradients));
  }
}

// Without copies there is one record, whose numbers the rule may take as they are.
TEST(ComputeType, NarrowNormsOfLookupsAreThoseOfTheirGradients) {
  for (const std::optional<std::int64_t> padding : {std::optional<std::int64_t>(), {2}}) {
    auto network = filled({{"emb", std::make_shared<Embedding>(5, 48, padding)},
                           {"fc", std::make_shared<Linear>(48, 3, false)}},
                          torch::kFloat32);
    network.set_compute_type(torch::kBFloat16);
    const auto logits = network.record({at::randint(0, 5, {kSamples, 9}, torch::kInt64)});
    network.backward(at::randn(logits.sizes(), torch::kFloat32));
    const auto norms = network.squared_norms();
    for (std::int64_t i = 0; i < kSamples; ++i) {
      auto gradient = torch::zeros({network.dimension()});
      network.add_clipped_sum(at::one_hot(torch::tensor(i), kSamples).to(torch::kFloat32), gradient);
      EXPECT_TRUE(near_relative(norms[i], gradient.to(torch::kFloat64).square().sum(), 1e-5));
    }
  }
}

TEST(ComputeType, FollowsTheParametersAsTheyChange) {
  auto network = filled({{"fc", std::make_shared<Linear>(2, 2, false)}}, torch::kFloat32);
  network.set_compute_type(torch::kBFloat16);
  const auto input = torch::eye(2);
  network.parameters().fill_(1.5F);
  EXPECT_TRUE(at::equal(network.forward(input), torch::full({2, 2}, 1.5F)));
  network.parameters().fill_(-0.25F);
  EXPECT_TRUE(at::equal(network.forward(input), torch::full({2, 2}, -0.25F)));
  // The parameters themselves keep what bfloat16 has no room for.
  network.parameters().fill_(1.001F);
  EXPECT_TRUE(at::equal(network.forward(input), torch::ones({2, 2})));
  EXPECT_EQ(network.parameters()[0].item<float>(), 1.001F);
}

}  // namespace copies_test
}  // namespace hyfreedp::models
