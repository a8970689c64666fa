// What a recorded pass keeps, and when it lets go; norms and sums themselves are checked in
// reference_test and layers_test.
#include <gtest/gtest.h>

#include "harness/models/layers/activation.h"
#include "harness/models/layers/linear.h"
#include "harness/models/layers/network.h"
#include "harness/models/layers/normalisation.h"
#include "harness/models/layers/shape.h"
#include "tests/models/compare.h"

namespace hyfreedp::models {
namespace bookkeeping_test {

using torch::Tensor;

// Doubles its input and remembers, without keeping it alive, what it gave.
class Watch : public Layer {
 public:
  Reads gradient_reads() const override { return {.inputs = false, .output = false}; }
  Tensor forward(const Tensor& input) const override {
    auto output = input * 2;
    given_ = Weak(output.getIntrusivePtr());
    return output;
  }
  Tensor input_gradient(const ActivationRecord& record) const override { return record.output_gradient * 2; }
  bool output_is_alive() const { return !given_.expired(); }

 private:
  using Weak = c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;
  mutable Weak given_ = Weak(Tensor().getIntrusivePtr());
};

void fill(Network& network) {
  torch::manual_seed(1);
  network.parameters().normal_(0, 0.5);
}

Network one_layer(std::int64_t inputs, std::int64_t outputs) {
  auto network = Network::make({{"fc", std::make_shared<Linear>(inputs, outputs)}}, torch::kFloat64).value();
  fill(network);
  return network;
}

// Long sequences through small layers and short ones through large layers, a residual, a layer used
// twice.
Network mixed(std::int64_t width) {
  const auto twice = std::make_shared<Linear>(width, width);
  auto network = Network::make({{"in", std::make_shared<Linear>(width, width)},
                                {"norm", std::make_shared<LayerNorm>(width, 1e-5)},
                                {"twice", twice},
                                {"act", std::make_shared<Gelu>(Gelu::Form::exact)},
                                {"again", twice},
                                {"add", std::make_shared<Add>(), {0, 4}},
                                {"rms", std::make_shared<RmsNorm>(width, 1e-5)},
                                {"mean", std::make_shared<MeanTokens>(0)},
                                {"head", std::make_shared<Linear>(width, 3)}},
                               torch::kFloat64)
                     .value();
  fill(network);
  return network;
}

TEST(Bookkeeping, TheUnclippedPassGivesTheSameSum) {
  for (const std::int64_t width : {4, 40}) {
    auto network = mixed(width);
    const auto inputs = torch::randn({3, 9, width}, torch::kFloat64);
    const auto gradient = torch::randn({3, 3}, torch::kFloat64);
    network.record(inputs);
    network.backward(gradient);
    auto sum = torch::zeros({network.dimension()}, torch::kFloat64);
    network.add_clipped_sum({}, sum);
    network.record(inputs);
    auto plain = torch::zeros({network.dimension()}, torch::kFloat64);
    network.backward_sum(gradient, plain);
    EXPECT_TRUE(near_relative(plain, sum, 1e-13)) << width;
  }
}

TEST(Bookkeeping, NormsAreOfTheSumsParts) {
  for (const std::int64_t width : {4, 40}) {
    auto network = mixed(width);
    network.record(torch::randn({3, 9, width}, torch::kFloat64));
    network.backward(torch::randn({3, 3}, torch::kFloat64));
    const auto norms = network.squared_norms();
    for (std::int64_t i = 0; i < 3; ++i) {
      auto one = torch::zeros({3}, torch::kFloat64);
      one[i] = 1;
      auto sum = torch::zeros({network.dimension()}, torch::kFloat64);
      network.add_clipped_sum(one, sum);
      EXPECT_NEAR(norms[i].item<double>() / sum.dot(sum).item<double>(), 1, 1e-12);
    }
  }
}

TEST(Bookkeeping, PerSampleGradientsReplaceWhatTheyWereMadeFrom) {
  const auto kept = [](std::int64_t positions, std::int64_t width) {
    auto network = one_layer(width, width);
    const auto inputs = torch::randn({2, positions, width}, torch::kFloat64);
    network.record(inputs);
    EXPECT_GT(inputs.use_count(), 1U);
    network.backward(torch::randn({2, positions, width}, torch::kFloat64));
    return inputs.use_count() > 1;
  };
  EXPECT_FALSE(kept(50, 4));  // 2 x 4 x 4 numbers a sample are fewer than 50 x 8
  EXPECT_TRUE(kept(2, 64));
}

TEST(Bookkeeping, ThePassKeepsNothingThatNoGradientReads) {
  const auto watch = std::make_shared<Watch>();
  const auto alive = [&](bool head_trains) {
    auto network =
        Network::make({{"first", std::make_shared<Linear>(4, 4)},
                       {"watch", watch},
                       {"head", std::make_shared<Linear>(4, 2)}},
                      torch::kFloat64,
                      [=](const std::string& name) { return head_trains || !name.starts_with("head"); })
            .value();
    network.record(torch::randn({3, 4}, torch::kFloat64));
    return watch->output_is_alive();
  };
  EXPECT_TRUE(alive(true));
  EXPECT_FALSE(alive(false));  // a frozen layer passes gradients on without its input
}

TEST(Bookkeeping, NothingBelowTheLowestTrainableLayerIsKept) {
  const auto watch = std::make_shared<Watch>();
  auto network =
      Network::make({{"first", std::make_shared<Linear>(4, 4)},
                     {"watch", watch},
                     {"second", std::make_shared<Linear>(4, 4)},
                     {"head", std::make_shared<Linear>(4, 2)}},
                    torch::kFloat64, [](const std::string& name) { return name.starts_with("head"); })
          .value();
  const auto inputs = torch::randn({3, 4}, torch::kFloat64);
  network.record(inputs);
  EXPECT_FALSE(watch->output_is_alive());
  EXPECT_EQ(inputs.use_count(), 1U);
}

}  // namespace bookkeeping_test
}  // namespace hyfreedp::models
