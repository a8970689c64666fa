// The noise in what training releases, by the checks of tests/random/noise_judge.h: its scale is
// the plan's and no other, its tails are whole, and no two releases share it.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "harness/mechanism/batches.h"
#include "harness/mechanism/release/noised_vector.h"
#include "tests/random/noise_judge.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace release_noise_test {

using random::judge_normals;
using random::Sample;
using random::scaled;
using random::uncorrelated;

const random::Key kKey = random::key_from_seed("tests of released noise");

// (released B - sum) / (sigma_g sensitivity), which is to be standard normal. The sum is 0, so
// float32 costs 2^-24 of it.
Sample noise_of(const trial::PrivacyPlan& plan, std::int64_t size, std::int64_t step,
                std::int64_t attempt = 0) {
  auto sum = torch::zeros({size});
  release_gradient(plan, kKey, step, attempt, sum);
  const auto z =
      sum.to(torch::kFloat64) * (plan.batch_size / (plan.gradient_noise * plan.clipping.sensitivity()));
  return {z.data_ptr<double>(), z.data_ptr<double>() + size};
}

trial::PrivacyPlan abadi_plan() {
  auto plan = small_config().privacy;
  plan.clipping.rule = trial::ClippingRule::abadi;
  plan.clipping.constant = 0.4;
  return plan;
}

// False failure 4e-8.
TEST(ReleasedNoise, HasThePlansScaleAndShape) {
  const auto z = noise_of(abadi_plan(), 1000000, 0);
  EXPECT_EQ(judge_normals(z), "");
  const auto low = scaled(z, 2.0 / 3.0), high = scaled(z, 3.0 / 2.0);
  for (const auto& check : random::kChecks) {
    EXPECT_EQ(check.fits(low), !check.sees_scale) << check.name;
    EXPECT_EQ(check.fits(high), !check.sees_scale) << check.name;
  }
}

// 28 pairs, 2 sums each: 1e-7.
TEST(ReleasedNoise, IsFreshInEveryStepAndAttempt) {
  const auto plan = abadi_plan();
  constexpr std::int64_t kSize = 60000;
  std::vector<Sample> releases;
  for (const std::int64_t step : {0, 1, 2, 65536}) {
    for (const std::int64_t attempt : {0, 1}) releases.push_back(noise_of(plan, kSize, step, attempt));
  }
  for (std::size_t a = 0; a < releases.size(); ++a) {
    for (std::size_t b = a + 1; b < releases.size(); ++b) {
      EXPECT_TRUE(uncorrelated(releases[a], releases[b])) << a << ' ' << b;
    }
  }
  EXPECT_FALSE(uncorrelated(releases[0], noise_of(plan, kSize, 0)));
}

// Gradient, probe and score noise of one step, and one block of a vector against the next: 2e-8.
TEST(ReleasedNoise, IsSharedByNoOtherPurposeAndNoOtherBlock) {
  const auto gradient = noise_of(abadi_plan(), 4 * kReleaseBlock, 3);
  for (const auto purpose : {random::Purpose::probe_noise, random::Purpose::score_noise}) {
    Sample other(gradient.size());
    random::fill_normals(kKey, address_of(purpose, 3, 0), 0, other);
    EXPECT_TRUE(uncorrelated(gradient, other));
  }
  const auto begin = gradient.begin();
  for (std::int64_t block = 1; block < 4; ++block) {
    const Sample first(begin, begin + kReleaseBlock);
    EXPECT_TRUE(
        uncorrelated(first, Sample(begin + block * kReleaseBlock, begin + (block + 1) * kReleaseBlock)));
  }
}

}  // namespace release_noise_test
}  // namespace hyfreedp::training
