// What the rounding of a batch's sum adds to how far one sample moves it
// (harness/trial/sum_rounding.h).
#include "harness/trial/sum_rounding.h"

#include <gtest/gtest.h>
#include <numeric>

#include "harness/models/model.h"
#include "harness/models/samples.h"
#include "harness/training/clipping.h"
#include "harness/training/gradient.h"
#include "harness/training/release.h"
#include "harness/training/setup.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace {

using torch::Tensor;

const random::Key kKey = random::key_from_seed("tests of the rounding of sums");

// A model at weights of its own on one sample of its example's dataset, as often as one likes.
struct Repeated {
  Repeated(const models::Facts& facts, std::int64_t count) {
    auto config = small_config();
    use_example(config, facts);
    auto dataset = data_of(config);
    const auto sizes =
        datasets::sizes(*datasets::find_dataset(config.dataset.name).value(), config.dataset.options);
    loss = sizes.length > 0 ? models::Loss::token_mean : models::Loss::cross_entropy;
    network.emplace(models::make_model(facts.name, config.model.options, models::model_input(sizes), kKey,
                                       torch::kFloat32)
                        .value());
    at::manual_seed(5);
    network->parameters().add_(0.05 * at::randn({network->dimension()}));
    const auto again = torch::zeros({count}, torch::kInt64);
    data.features = dataset.private_train.features.index_select(0, again);
    data.labels = dataset.private_train.labels.index_select(0, again);
    microbatch = facts.microbatch;
  }

  Tensor sum(const trial::PrivacyPlan& plan, std::int64_t count, torch::ScalarType type) {
    BatchReader reader(data, torch::kFloat32, microbatch);
    auto total = torch::zeros({network->dimension()}, type);
    Rows rows{.count = count, .all = false, .indices = std::vector<std::int64_t>(count)};
    std::iota(rows.indices.begin(), rows.indices.end(), 0);
    clipped_gradient_sum(*network, loss, clipping_rule(plan, torch::kFloat32), reader, rows, total);
    return total.to(torch::kFloat64);
  }

  datasets::SplitData data;
  models::Loss loss = models::Loss::cross_entropy;
  std::optional<models::Network> network;
  std::int64_t microbatch = 0;
};

trial::PrivacyPlan plan_of(double batch_size, std::int64_t population) {
  auto plan = small_config().privacy;
  plan.population = population;
  plan.batch_size = batch_size;
  plan.sample_rate = batch_size / static_cast<double>(population);
  plan.clipping = trial::Clipping::abadi;
  plan.clipping_constant = 1e-3;
  return plan;
}

// Equal samples are the worst there are: no term makes up for another, and all roundings of an
// entry have one sign for long. The bound is half of r, which has room for two sums.
TEST(SumRounding, OfEveryModelIsWithinWhatClippingLeaves) {
  constexpr std::int64_t kCount = 600;
  for (const auto& facts : models::model_facts()) {
    Repeated equal(facts, kCount);
    const auto plan = plan_of(kCount, kCount);
    const auto narrow = equal.sum(plan, kCount, torch::kFloat32);
    const auto wide = equal.sum(plan, kCount, torch::kFloat64);
    const double moved = (narrow - wide).norm().item<double>() / plan.sensitivity();
    EXPECT_LE(moved, plan.rounding_of_sums(false) / 2) << facts.name;
    EXPECT_GE(wide.norm().item<double>(), 0.97 * kCount * plan.sensitivity()) << facts.name;
  }
}

TEST(SumRounding, NeighbouringBatchesOfEqualSamplesDifferByTheSensitivityAtMost) {
  constexpr std::int64_t kCount = 600;
  for (const auto& facts : models::model_facts()) {
    Repeated equal(facts, kCount);
    const auto plan = plan_of(kCount, kCount);
    for (const auto type : {torch::kFloat32, torch::kFloat64}) {
      const auto with = equal.sum(plan, kCount, type), without = equal.sum(plan, kCount - 1, type);
      EXPECT_LE((with - without).norm().item<double>(), plan.sensitivity()) << facts.name << " " << type;
    }
  }
}

TEST(SumRounding, LargeBatchesAreSummedInFloat64) {
  EXPECT_EQ(sum_type(plan_of(1000, 50'000), torch::kFloat32), torch::kFloat32);
  EXPECT_EQ(sum_type(plan_of(50'000, 50'000), torch::kFloat32), torch::kFloat64);
  EXPECT_EQ(sum_type(plan_of(1000, 50'000), torch::kFloat64), torch::kFloat64);
  const auto rule = clipping_rule(plan_of(50'000, 50'000), torch::kFloat32);
  EXPECT_LT(rule.rounding, 1e-5);
  EXPECT_GT(rule.rounding, models::norm_rounding(torch::kFloat32));
  EXPECT_NEAR(clipping_rule(plan_of(1000, 50'000), torch::kFloat32).rounding, 0.01, 1e-3);
  EXPECT_EQ(clipping_rule(exact_config().privacy, torch::kFloat32).rounding, 0);
}

// Noise and divisor in float64, rounded to float32 once: not the sum rounded first.
TEST(SumRounding, AWideSumKeepsItsDigitsUntilTheNoiseIsIn) {
  auto plan = plan_of(1e6, 1'000'000);
  plan.gradient_noise = 1;
  const auto sum = 1e5 + at::rand({40'000}, torch::kFloat64);
  auto expected = sum.clone();
  release_gradient(plan, kKey, 3, 1, expected);
  auto wide = sum.clone();
  auto released = torch::empty({sum.numel()}, torch::kFloat32);
  std::int64_t visited = 0;
  const auto digest = release_wide_sum(plan, kKey, 3, 1, wide, released,
                                       [&](std::int64_t begin, std::int64_t end) { visited += end - begin; });
  EXPECT_TRUE(at::equal(released, expected.to(torch::kFloat32)));
  EXPECT_EQ(visited, sum.numel());
  auto narrow = sum.to(torch::kFloat32);
  release_gradient(plan, kKey, 3, 1, narrow);
  EXPECT_FALSE(at::equal(released, narrow));
  auto again = sum.clone();
  EXPECT_EQ(release_wide_sum(plan, kKey, 3, 1, again, released), digest);
}

// A run of batches large enough, from its config to its journal: the same run in float64 has the
// same losses.
TEST(SumRounding, ARunOfLargeBatchesTrains) {
  const auto journal_of = [](const std::string& dtype) {
    auto config = small_config(3);
    config.dataset = resolved(datasets::find_dataset("synthetic"), "synthetic",
                              {{"train", 6000}, {"validation", 50}, {"test", 200}, {"features", 8}});
    config.privacy.population = 6000;
    config.privacy.batch_size = 5000;
    config.privacy.sample_rate = 5.0 / 6;
    config.dtype = dtype;
    EXPECT_TRUE(config.privacy.has_wide_sums());
    return journal_under_one_key(config);
  };
  const auto narrow = journal_of("float32"), wide = journal_of("float64");
  EXPECT_NEAR(metric_of(narrow, "test", "loss"), metric_of(wide, "test", "loss"), 1e-6);
}

}  // namespace
}  // namespace hyfreedp::training
