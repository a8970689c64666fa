// What the rounding of a batch's sum adds to how far one sample moves it
// (harness/trial/sum_rounding.h).
#include "harness/trial/sum_rounding.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <numeric>

#include "harness/mechanism/release/noised_vector.h"
#include "harness/models/layers/samples.h"
#include "harness/models/model.h"
#include "harness/training/clipping.h"
#include "harness/training/gradient.h"
#include "harness/training/setup.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace sum_rounding_test {

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
    loss = rule_of(sizes.labels).loss;
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
    clipped_gradient_sum(*network, loss, rounded_clipping(plan, torch::kFloat32), reader, rows, total);
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
  plan.clipping.rule = trial::ClippingRule::abadi;
  plan.clipping.constant = 1e-3;
  return plan;
}

// Of equal samples no term makes up for another, and all roundings of an entry have one sign for
// long. The bound is half of r, which has room for two sums; neighbouring batches differ by the
// sensitivity at most.
TEST(SumRounding, OfEveryModelIsWithinWhatClippingLeaves) {
  constexpr std::int64_t kCount = 600;
  for (const auto& facts : models::model_facts()) {
    SCOPED_TRACE(facts.name);
    Repeated equal(facts, kCount);
    const auto plan = plan_of(kCount, kCount);
    const auto narrow = equal.sum(plan, kCount, torch::kFloat32);
    const auto wide = equal.sum(plan, kCount, torch::kFloat64);
    const double moved = (narrow - wide).norm().item<double>() / plan.clipping.sensitivity();
    EXPECT_LE(moved, plan.rounding_of_sums(false) / 2);
    EXPECT_GE(wide.norm().item<double>(), 0.97 * kCount * plan.clipping.sensitivity());
    const auto less = [&](torch::ScalarType type) { return equal.sum(plan, kCount - 1, type); };
    EXPECT_LE((narrow - less(torch::kFloat32)).norm().item<double>(), plan.clipping.sensitivity());
    EXPECT_LE((wide - less(torch::kFloat64)).norm().item<double>(), plan.clipping.sensitivity());
  }
}

// Entries of a first column: their sum comes to just below 512 and then goes up and down by little
// more than half of a unit in the last place of what is above 512. Added up one after another, the
// sum with the first entry rounds each of these away from zero, and that without it, which stays
// below 512, does not.
std::vector<float> entries_at_a_power_of_two(std::size_t count) {
  constexpr float kEntry = 0.696F;
  std::vector<float> entries{kEntry};
  double sum = 0;
  for (; sum + kEntry < 512 - kEntry / 2; sum += kEntry) entries.push_back(kEntry);
  entries.push_back(static_cast<float>(512 - kEntry / 2 - sum));
  for (bool up = true; entries.size() < count; up = !up)
    entries.push_back(static_cast<float>((up ? 4096.51 : -4096.49) * 0x1p-14));
  return entries;
}

// However a library orders the additions of a product: also where a linear head of two or three
// classes has thousands of inputs, whose rows it adds up one after another.
TEST(SumRounding, ProductsOfEveryShapeAreWithinTheirBound) {
  constexpr std::int64_t kCount = 2048;
  const auto entries = entries_at_a_power_of_two(kCount);
  for (const auto& [height, width] : {std::pair{1, 5000}, std::pair{2, 2100}, std::pair{3, 1400},
                                      std::pair{2, 768}, std::pair{10, 784}, std::pair{300, 150}}) {
    auto left = torch::zeros({kCount, height}), right = torch::zeros({kCount, width});
    double absolute = 0;
    for (std::int64_t i = 0; i < kCount; ++i) {
      const float entry = entries[static_cast<std::size_t>(i)];
      right[i][0] = std::abs(entry);
      left[i][0] = entry < 0 ? -1 : 1;
      absolute += std::abs(entry);
    }
    const auto sum = [&](std::int64_t first, torch::ScalarType type) {
      auto total = torch::zeros({height, width}, type);
      models::add_product(left.narrow(0, first, kCount - first).to(type),
                          right.narrow(0, first, kCount - first).to(type), total);
      return total.to(torch::kFloat64);
    };
    const auto all = sum(0, torch::kFloat32), exact = sum(0, torch::kFloat64);
    EXPECT_LE((all - exact).norm().item<double>(), 41 * 0x1p-24 * absolute) << height << " x " << width;
    // Each entry is at most (1 - r) S of S = 0.71.
    EXPECT_LE(0.696, 0.71 * (1 - trial::sum_rounding(kCount, false)));
    EXPECT_LE((all - sum(1, torch::kFloat32)).norm().item<double>(), 0.71) << height << " x " << width;
  }
}

// More rows than the totals of one walk take, and a sum that lies transposed.
TEST(SumRounding, ProductsOfManyRowsAreOfAllOfThem) {
  constexpr std::int64_t kCount = 2 * 40'960 + 100;
  at::manual_seed(3);
  const auto left = at::randn({kCount, 3}), right = at::randn({kCount, 700});
  const auto wide_left = left.to(torch::kFloat64), wide_right = right.to(torch::kFloat64);
  const auto exact = at::mm(wide_left.t(), wide_right);
  const auto absolute = at::mm(wide_left.abs().t(), wide_right.abs());
  auto sum = torch::zeros({3, 700}), transposed = torch::zeros({700, 3});
  models::add_product(left, right, sum);
  models::add_product(left, right, transposed.t());
  EXPECT_TRUE(((sum - exact).abs() <= 43 * 0x1p-24 * absolute).all().item<bool>());
  EXPECT_TRUE(at::equal(transposed.t(), sum));
  // The bits are the same on any number of threads.
  const auto threads = at::get_num_threads();
  for (const int count : {1, 3}) {
    at::set_num_threads(count);
    auto again = torch::zeros({3, 700});
    models::add_product(left, right, again);
    EXPECT_TRUE(at::equal(again, sum)) << count << " threads";
  }
  at::set_num_threads(threads);
}

TEST(SumRounding, LargeBatchesAreSummedInFloat64) {
  EXPECT_EQ(sum_type(plan_of(1000, 50'000), torch::kFloat32), torch::kFloat32);
  EXPECT_EQ(sum_type(plan_of(50'000, 50'000), torch::kFloat32), torch::kFloat64);
  EXPECT_EQ(sum_type(plan_of(1000, 50'000), torch::kFloat64), torch::kFloat64);
  const auto rule = rounded_clipping(plan_of(50'000, 50'000), torch::kFloat32);
  EXPECT_LT(rule.rounding, 1e-5);
  EXPECT_GT(rule.rounding, models::norm_rounding(torch::kFloat32));
  EXPECT_NEAR(rounded_clipping(plan_of(1000, 50'000), torch::kFloat32).rounding, 0.01, 1e-3);
  EXPECT_EQ(rounded_clipping(exact_config().privacy, torch::kFloat32).rounding, 0);
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

}  // namespace sum_rounding_test
}  // namespace hyfreedp::training
