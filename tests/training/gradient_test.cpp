#include "harness/training/gradient.h"

#include <gtest/gtest.h>

#include "harness/models/model.h"
#include "harness/training/clipping.h"
#include "harness/training/displaced_weights.h"
#include "tests/models/compare.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace gradient_test {

using models::near_relative;
using torch::Tensor;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const random::Key kKey = random::key_from_seed("tests of gradients");

struct Bench {
  explicit Bench(torch::ScalarType dtype, std::int64_t microbatch = 2048)
      : dataset(data_of(small_config())), network(make()), reader(dataset.private_train, dtype, microbatch) {
    network = models::make_model(
                  "mlp", model_named("mlp", {{"hidden", json::array{6}}, {"last_layer", "he"}}).options,
                  {.features = 8, .classes = 3}, kKey, dtype)
                  .value();
    sum = torch::zeros({network.dimension()}, dtype);
  }
  Tensor run(const RoundedClipping& rule, const Rows& rows) {
    return clipped_gradient_sum(network, models::Loss::cross_entropy, rule, reader, rows, sum);
  }

  datasets::Dataset dataset;
  models::Network network;
  BatchReader reader;
  Tensor sum;

 private:
  static models::Network make() {
    return models::make_model("linear", {}, {.features = 8, .classes = 3}, kKey, torch::kFloat32).value();
  }
};

Rows some_rows() {
  const trial::PrivacyPlan plan = small_config().privacy;
  return gradient_rows(plan, kKey, 3, 0);
}
const Rows kAll{.count = 600, .all = true, .indices = {}};

TEST(ClippedSum, WithoutClippingOrWithInfiniteThresholdIsTheSameSum) {
  Bench bench(torch::kFloat64);
  bench.run({trial::ClippingRule::none, 0}, some_rows());
  const auto plain = bench.sum.clone();
  bench.run({trial::ClippingRule::abadi, kInfinity}, some_rows());
  EXPECT_TRUE(near_relative(bench.sum, plain, 1e-12));
}

TEST(ClippedSum, DoesNotDependOnTheMicrobatches) {
  for (const auto& rows : {some_rows(), kAll}) {
    for (const auto clipping :
         {trial::ClippingRule::auto_s, trial::ClippingRule::abadi, trial::ClippingRule::none}) {
      Bench whole(torch::kFloat32);
      const auto losses = whole.run({clipping, 0.01}, rows);
      for (const std::int64_t size : {1, 7, 64}) {
        Bench pieces(torch::kFloat32, size);
        EXPECT_TRUE(near_relative(pieces.run({clipping, 0.01}, rows), losses, 1e-6));
        EXPECT_TRUE(near_relative(pieces.sum, whole.sum, 1e-6)) << size;
      }
    }
  }
}

// The sum of pieces is rounded once, at its end: added up in float32 it would be rounded 600 times.
TEST(ClippedSum, MicrobatchesAreAddedUpInDouble) {
  const RoundedClipping rule{{trial::ClippingRule::auto_s, 0.01}};
  Bench one(torch::kFloat32, 1);
  auto exact = torch::zeros({one.network.dimension()}, torch::kFloat64);
  for (std::int64_t row = 0; row < 600; ++row) {
    one.run(rule, {.count = 1, .all = false, .indices = {row}});
    exact.add_(one.sum);
  }
  one.run(rule, kAll);
  EXPECT_TRUE(at::equal(one.sum, exact.to(torch::kFloat32)));
}

TEST(ClippedSum, EmptyBatchIsZero) {
  Bench bench(torch::kFloat32);
  bench.sum.fill_(7);
  EXPECT_EQ(bench.run({}, Rows{}).numel(), 0);
  EXPECT_EQ(bench.sum.abs().max().item<float>(), 0);
}

TEST(ClippedSum, OneSampleIsWithinTheSensitivity) {
  for (const double scale : {1e-3, 1.0, 1e4}) {
    Bench bench(torch::kFloat64);
    bench.dataset.private_train.features.mul_(scale);
    bench.reader = BatchReader(bench.dataset.private_train, torch::kFloat64, 2048);
    for (const auto& rule : {RoundedClipping{{trial::ClippingRule::auto_s, 0.01}},
                             RoundedClipping{{trial::ClippingRule::abadi, 0.3}}}) {
      trial::PrivacyPlan plan;
      plan.clipping.rule = rule.rule;
      plan.clipping.constant = rule.constant;
      for (std::int64_t row = 0; row < 40; ++row) {
        bench.run(rule, {.count = 1, .all = false, .indices = {row}});
        EXPECT_LE(bench.sum.norm().item<double>(), plan.clipping.sensitivity() * (1 + 1e-12));
      }
    }
  }
}

TEST(ClippedSum, SampleThatIsNotFiniteCountsAsNothing) {
  for (const float poison :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 3e38F}) {
    Bench bench(torch::kFloat32);
    bench.run({}, {.count = 3, .all = false, .indices = {0, 1, 3}});
    const auto expected = bench.sum.clone();
    bench.dataset.private_train.features[2][4] = poison;
    bench.reader = BatchReader(bench.dataset.private_train, torch::kFloat32, 2048);
    bench.run({}, {.count = 4, .all = false, .indices = {0, 1, 2, 3}});
    EXPECT_TRUE(near_relative(bench.sum, expected, 1e-6)) << poison;
  }
}

TEST(ClippedSum, LossesAreThoseOfTheRows) {
  Bench bench(torch::kFloat64, 16);
  const auto rows = some_rows();
  const auto trained = bench.run({}, rows);
  EXPECT_EQ(trained.numel(), rows.count);
  EXPECT_TRUE(near_relative(losses_at_weights(bench.network, models::Loss::cross_entropy, bench.reader, rows),
                            trained, 1e-14));
  const auto all = bench.run({}, kAll);
  const auto index = torch::tensor(rows.indices);
  EXPECT_TRUE(near_relative(trained, all.index_select(0, index), 1e-12));
}

TEST(ClipFactors, FollowTheirFormulas) {
  const auto squared = torch::tensor({0.0, 0.25, 9.0, kInfinity, std::nan("")}, torch::kFloat64);
  const auto automatic = clip_factors({trial::ClippingRule::auto_s, 0.5}, squared);
  const auto flat = clip_factors({trial::ClippingRule::abadi, 0.75}, squared);
  EXPECT_TRUE(at::equal(automatic, torch::tensor({2.0, 1.0, 1 / 3.5, 0.0, 0.0}, torch::kFloat64)));
  EXPECT_TRUE(at::allclose(flat, torch::tensor({1.0, 1.0, 0.25, 0.0, 0.0}, torch::kFloat64), 1e-15, 0));
}

TEST(DisplacedWeights, ArePutBackBitForBit) {
  torch::manual_seed(1);
  auto weights = torch::randn({1001});
  weights[3] = -0.0F;
  weights[4] = std::numeric_limits<float>::denorm_min();
  weights[5] = std::numeric_limits<float>::quiet_NaN();
  const auto before = weights.clone();
  const auto direction = torch::randn({1001}) * 1e3;
  auto scratch = torch::empty_like(weights);
  {
    DisplacedWeights displaced(weights, scratch);
    displaced.step_along(direction, 0.3);
    // Where the two nearly cancel, what rounding leaves is that of the larger one.
    EXPECT_TRUE(at::allclose(weights.narrow(0, 6, 900), at::sub(before, direction, 0.3).narrow(0, 6, 900),
                             1e-5, 1e-3));
    displaced.step_along(direction, -0.3);
    EXPECT_TRUE(at::allclose(weights.narrow(0, 6, 900), at::sub(before, direction, -0.3).narrow(0, 6, 900),
                             1e-5, 1e-3));
  }
  EXPECT_EQ(std::memcmp(weights.data_ptr(), before.data_ptr(), before.nbytes()), 0);
}

}  // namespace gradient_test
}  // namespace hyfreedp::training
