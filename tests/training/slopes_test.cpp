// Slopes of released gradients: those of a double loop over what an observer was shown, the same
// bits with or without an observer, and steps by layer.
#include <ATen/Parallel.h>
#include <cmath>
#include <gtest/gtest.h>

#include "harness/models/model.h"
#include "harness/training/setup.h"
#include "harness/training/step_lengths.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace slopes_test {

using torch::Tensor;

models::Network wide_network(torch::ScalarType type) {
  const auto options = model_named("mlp", {{"hidden", json::array{300, 200}}}).options;
  return models::make_model("mlp", options, {.features = 100, .classes = 7}, random::key_from_seed("slopes"),
                            torch::TensorOptions().dtype(type))
      .value();
}

// Layers of 30,300, 60,200 and 1,407 parameters: their bounds lie within blocks, and so do those of
// blocks within layers.
TEST(Slopes, AreThoseOfADoubleLoop) {
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    const auto network = wide_network(type);
    const auto d = network.dimension();
    ASSERT_EQ(d, 30300 + 60200 + 1407);
    torch::manual_seed(1);
    const auto m = torch::randn({d}, type), u = torch::randn({d}, type);
    SlopeMeter meter(network);
    meter.measure(m, u);
    auto slopes = meter.by_layer();
    // By tensors, as on a device, where vectors are not dense; and by another number of threads.
    const auto strided = [](const Tensor& vector) { return at::stack({vector, vector}, 1).select(1, 0); };
    SlopeMeter other(network);
    other.measure(strided(m), strided(u));
    const auto by_tensors = other.by_layer();
    const auto threads = at::get_num_threads();
    at::set_num_threads(threads == 1 ? 2 : 1);
    other.measure(m, u);
    at::set_num_threads(threads);
    const auto by_others = other.by_layer();
    ASSERT_EQ(slopes.size(), 3u);
    std::int64_t begin = 0;
    for (std::size_t layer = 0; layer < 3; ++layer) {
      const auto size = std::vector<std::int64_t>{30300, 60200, 1407}[layer];
      double along = 0, squared = 0;
      for (auto i = begin; i < begin + size; ++i) {
        const double a = m[i].item<double>(), b = u[i].item<double>();
        along += a * b;
        squared += b * b;
      }
      EXPECT_NEAR(slopes[layer].along, along, 1e-9 * squared);
      EXPECT_NEAR(slopes[layer].length, std::sqrt(squared), 1e-9 * std::sqrt(squared));
      EXPECT_NEAR(by_tensors[layer].along, along, 1e-9 * squared);
      EXPECT_NEAR(by_tensors[layer].length, std::sqrt(squared), 1e-9 * std::sqrt(squared));
      EXPECT_EQ(by_others[layer].along, slopes[layer].along);
      EXPECT_EQ(by_others[layer].length, slopes[layer].length);
      begin += size;
    }
  }
}

TEST(Slopes, AreMeasuredBeforeTheDirectionIsOverwritten) {
  const auto network = wide_network(torch::kFloat32);
  const auto m = torch::randn({network.dimension()});
  auto u = torch::randn({network.dimension()});
  SlopeMeter whole(network), pieces(network);
  whole.measure(m, u);
  const auto work = pieces.measuring(
      m, u, [&](std::int64_t begin, std::int64_t end) { u.narrow(0, begin, end - begin).zero_(); });
  for (std::int64_t begin = 0; begin < m.numel(); begin += mechanism::kReleaseBlock) {
    work(begin, std::min(m.numel(), begin + mechanism::kReleaseBlock));
  }
  const auto expected = whole.by_layer(), found = pieces.by_layer();
  for (std::size_t layer = 0; layer < expected.size(); ++layer) {
    EXPECT_EQ(found[layer].along, expected[layer].along);
    EXPECT_EQ(found[layer].length, expected[layer].length);
  }
  EXPECT_EQ(u.abs().max().item<float>(), 0);
}

// Gives these rates.
class Rates final : public optimizers::LearningRateController {
 public:
  void begin(const Start&) override {}
  double learning_rate(std::int64_t) const override { return 0.5; }
  bool follows_slopes() const override { return true; }
  std::vector<double> layer_rates() const override { return rates; }
  std::vector<double> rates;
};

TEST(StepLengths, EachLayerStepsByItsRate) {
  const auto network = wide_network(torch::kFloat32);
  Rates controller;
  const std::function<decltype(subtract_scaled)> weight_step = subtract_scaled;
  const StepLengths lengths(controller, network, weight_step);
  auto weights = torch::ones({network.dimension()});
  const auto u = torch::ones({network.dimension()});
  controller.rates = {0.5, 0.25, 0.25};
  EXPECT_TRUE(lengths.fit(0.5, weights));
  EXPECT_TRUE(lengths.step(weights, u, 0.5));
  EXPECT_TRUE(at::equal(weights.narrow(0, 0, 30300), torch::full({30300}, 0.5)));
  EXPECT_TRUE(at::equal(weights.narrow(0, 30300, 61607), torch::full({61607}, 0.75)));
  const double infinity = std::numeric_limits<double>::infinity();
  for (std::size_t layer = 0; layer < 3; ++layer) {
    controller.rates = {0.1, 0.1, 0.1};
    controller.rates[layer] = 1e39;
    EXPECT_FALSE(lengths.fit(0.5, weights)) << "float32 cannot hold it";
    controller.rates[layer] = infinity;
    auto others = torch::ones_like(weights);
    EXPECT_FALSE(lengths.step(others, u, 0.5)) << layer;
  }
}

class Gradients final : public mechanism::Observer {
 public:
  void vector_released(const mechanism::VectorSeen& seen) override { all.push_back(seen.released.clone()); }
  void values_released(const mechanism::ValuesSeen&) override {}
  void run_ended(const Tensor&) override {}
  std::vector<Tensor> all;
};

trial::TrialConfig slope_config(const json::object& options = {}) {
  auto config = small_config();
  config.model = model_named("mlp", {{"hidden", json::array{5}}});
  config.optimizer = optimizer_named("sgd", {{"momentum", 0.0}});
  config.controller = controller_named("free-slope", options);
  return config;
}

// Plain SGD: the direction of a step is its released gradient.
TEST(Slopes, OfARunAreThoseOfItsReleases) {
  const auto config = slope_config({{"groups", "all"}});
  Gradients seen;
  const auto journal = journal_under_one_key(config, &seen);
  ASSERT_EQ(journal.steps.size(), 12u);
  double rate = 1e-5, q = 0;
  int changes = 0;
  double last = 0;
  for (std::size_t t = 0; t < 12; ++t) {
    const auto& scalars = journal.steps[t].scalars;
    if (t > 0) {
      const auto u = seen.all[t - 1].to(torch::kFloat64), m = seen.all[t].to(torch::kFloat64);
      const double slope = at::dot(m, u).item<double>();
      const double noise = 1.1 / 60 * u.norm().item<double>();  // sigma S / B
      EXPECT_NEAR(scalars.at("slope_over_noise.all"), slope / noise, 1e-6 * std::abs(slope / noise));
      q = 0.9 * q + 0.1 * slope * slope;
      const double square = q / (1 - std::pow(0.9, double(t)));
      if (last * slope < 0) ++changes;
      last = slope;
      // One group is all that is new, so its own slope and that of the others are one.
      const double z = std::clamp(slope / std::sqrt(square + noise * noise), -1.0, 1.0);
      rate *= std::exp(0.35 * z / (1 + 0.05 * changes));
    }
    EXPECT_NEAR(scalars.at("eta") / rate, 1, 1e-6) << t;
  }
}

// Without an observer the optimizer goes by pieces; threads share these.
TEST(Slopes, OfARunAreTheSameBitsInEveryPath) {
  for (auto config : {slope_config(), slope_config({{"groups", "all"}})}) {
    for (const char* optimizer : {"sgd", "adamw"}) {
      config.optimizer = optimizer_named(optimizer);
      Gradients seen;
      const auto with = journal_under_one_key(config, &seen), without = journal_under_one_key(config);
      expect_same_outcome(with, without);
      EXPECT_EQ(without.steps.front().scalars.count("slope_over_noise"), 0u);
      EXPECT_EQ(without.steps.back().scalars.count("slope_over_noise"), 1u);
    }
  }
}

TEST(Slopes, CostNothing) {
  auto constant = slope_config();
  constant.controller = controller_named("constant");
  const auto events = [](const trial::TrialConfig& config) {
    return accounting::events_to_json({.events = journal_under_one_key(config).executed});
  };
  EXPECT_EQ(events(slope_config()), events(constant));
}

TEST(Slopes, AreRefusedWhereNothingIsReleasedOfEachParameter) {
  auto config = zeroth_order_config();
  config.controller = controller_named("free-slope");
  const auto refused = set_up(config, data_of(config));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("optimizer 'dp-zo' computes none"), std::string::npos)
      << refused.error().message;
  config = slope_config();
  mechanism::set_optimizer(config, optimizer_named("prodigy"));
  EXPECT_FALSE(set_up(config, data_of(config)));
}

}  // namespace slopes_test
}  // namespace hyfreedp::training
