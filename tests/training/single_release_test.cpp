// One sample by itself through the path that releases: what its clipped sum's length is, is what
// the sensitivity says at most, for every model of the registry (and with it every kind of layer),
// every clipping, grouping, precision and number of copies. The length is taken in float64 of the
// numbers that the noise is added to; nothing is allowed above S.
#include <cstdlib>
#include <gtest/gtest.h>

#include "harness/models/model.h"
#include "harness/training/clipping.h"
#include "harness/training/gradient.h"
#include "harness/training/labels.h"
#include "harness/training/precision.h"
#include "tests/training/emulated_tf32.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace single_release_test {

using torch::Tensor;
using trial::ClippingGroups;
using trial::ClippingRule;
using trial::GroupShares;

const random::Key kKey = random::key_from_seed("tests of single releases");
constexpr std::int64_t kRows = 6;
// Whose sum is made in float64, too; with HYFREEDP_SLOW all of them.
const std::int64_t kWideRows = std::getenv("HYFREEDP_SLOW") == nullptr ? 1 : kRows;

enum class Arithmetic { float64, float32, bf16, tf32 };
constexpr std::array<const char*, 4> kArithmeticNames = {"float64", "float32", "bf16", "tf32"};

// All clippings in all groupings. Thresholds and constants are small, so that every sample is
// clipped.
std::vector<trial::PrivacyPlan> every_plan() {
  trial::PrivacyPlan plan;
  plan.sampler = trial::Sampler::full_batch;
  plan.population = 1;
  plan.batch_size = plan.sample_rate = 1;
  plan.gradient_noise = 1;
  std::vector<trial::PrivacyPlan> plans;
  for (const auto& [clipping, constant] :
       {std::pair{ClippingRule::auto_s, 1e-9}, std::pair{ClippingRule::auto_v, 0.01},
        std::pair{ClippingRule::abadi, 1e-5}, std::pair{ClippingRule::adaptive, 1e-5}}) {
    plan.clipping.rule = clipping;
    plan.clipping.constant = constant;
    plan.clipping.adaptive.reset();
    plan.clipping.groups = ClippingGroups::all;
    plan.clipping.shares = GroupShares::uniform;
    if (clipping == ClippingRule::adaptive) plan.clipping.adaptive = {.count_noise = 10};
    plans.push_back(plan);
    if (clipping == ClippingRule::adaptive) continue;
    plan.clipping.groups = ClippingGroups::per_layer;
    plans.push_back(plan);
    plan.clipping.shares = GroupShares::size;
    plans.push_back(plan);
  }
  return plans;
}

std::string described(const trial::PrivacyPlan& plan) { return json::serialize(plan.to_json()); }

struct OneModel {
  OneModel(const models::Facts& facts, Arithmetic arithmetic, std::int64_t copies)
      : type(arithmetic == Arithmetic::float64 ? torch::kFloat64 : torch::kFloat32) {
    auto config = small_config();
    use_example(config, facts);
    dataset = data_of(config);
    const auto sizes =
        datasets::sizes(*datasets::find_dataset(config.dataset.name).value(), config.dataset.options);
    loss = rule_of(sizes.labels).loss;
    network.emplace(
        models::make_model(facts.name, config.model.options, models::model_input(sizes), kKey, type).value());
    // Not where a fresh network stands, with its zeros and its equal rows.
    at::manual_seed(5);
    network->parameters().add_(0.05 * at::randn({network->dimension()}, torch::kFloat64).to(type));
    if (arithmetic == Arithmetic::bf16) network->set_compute_type(torch::kBFloat16);
    reader.emplace(dataset.private_train, type, 1024);
    if (copies > 0 && sizes.image[0] > 0) {
      augmentation.emplace(trial::Augmentations{.copies = copies, .shift = 1}, sizes.image);
      augmentation->draw_from(kKey, {});
      reader->augment(&*augmentation);
    }
  }

  double length_of(const trial::PrivacyPlan& plan, std::int64_t row, bool wide = false) {
    auto sum = torch::zeros({network->dimension()}, wide ? torch::kFloat64 : type);
    clipped_gradient_sum(*network, loss, rounded_clipping(plan, type), *reader,
                         {.count = 1, .all = false, .indices = {row}}, sum);
    return sum.to(torch::kFloat64).norm().item<double>();
  }

  torch::ScalarType type;
  datasets::Dataset dataset;
  models::Loss loss = models::Loss::cross_entropy;
  std::optional<models::Network> network;
  std::optional<Augmentation> augmentation;
  std::optional<BatchReader> reader;
};

class SingleRelease : public ::testing::TestWithParam<Arithmetic> {};

TEST_P(SingleRelease, IsWithinTheSensitivity) {
  const bool tf32 = GetParam() == Arithmetic::tf32;
  const Tf32 allowed(tf32);
  std::optional<EmulatedTf32> emulated;
  if (tf32) emulated.emplace();
  emulated_products() = 0;
  for (const auto& facts : models::model_facts()) {
    for (const std::int64_t copies : {0, 3}) {
      OneModel one(facts, GetParam(), copies);
      if (copies > 0 && !one.augmentation) continue;
      for (const auto& plan : every_plan()) {
        double longest = 0;
        for (std::int64_t row = 0; row < kRows; ++row) {
          longest = std::max(longest, one.length_of(plan, row));
          if (row >= kWideRows) continue;
          EXPECT_LE(one.length_of(plan, row, true), plan.clipping.sensitivity()) << facts.name << " wide sum";
        }
        EXPECT_LE(longest, plan.clipping.sensitivity())
            << facts.name << ", " << copies << " copies, exceeds it by "
            << longest / plan.clipping.sensitivity() - 1 << ": " << described(plan);
        // No empty bound: what is taken off for rounding is small.
        EXPECT_GE(longest, 0.98 * plan.clipping.sensitivity()) << facts.name << ": " << described(plan);
      }
    }
  }
  EXPECT_EQ(emulated_products() > 0, tf32) << "TF32 was emulated where it was not asked for, or not at all";
}

INSTANTIATE_TEST_SUITE_P(Arithmetics, SingleRelease,
                         ::testing::Values(Arithmetic::float64, Arithmetic::float32, Arithmetic::bf16,
                                           Arithmetic::tf32),
                         [](const auto& at) { return kArithmeticNames[static_cast<std::size_t>(at.param)]; });

}  // namespace single_release_test
}  // namespace hyfreedp::training
