#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <mutex>
#include <set>
#include <thread>

#include "harness/mechanism/batches.h"
#include "harness/mechanism/release/noised_vector.h"
#include "harness/training/private_loss.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace release_test {

using torch::Tensor;

const random::Key kKey = random::key_from_seed("tests of releases");
constexpr std::int64_t kDimension = 20000;

trial::PrivacyPlan plan_with(trial::ClippingRule clipping, double constant) {
  auto plan = small_config().privacy;
  plan.clipping.rule = clipping;
  plan.clipping.constant = constant;
  return plan;
}

Tensor residual(const trial::PrivacyPlan& plan, torch::ScalarType dtype, std::int64_t step = 0) {
  const auto sum = at::sin(torch::arange(kDimension, dtype));
  auto released = sum.clone();
  release_gradient(plan, kKey, step, 0, released);
  return released.to(torch::kFloat64) * plan.batch_size - sum.to(torch::kFloat64);
}

// Whether the residual's sum of squares is that of N(0, sd^2) entries. The statistic is chi-square
// with 20 000 degrees of freedom, standard deviation 200: 5 of them are passed by chance with
// probability 6e-7.
bool has_deviation(const Tensor& noise, double sd) {
  const double statistic = noise.square().sum().item<double>() / (sd * sd);
  return std::abs(statistic - kDimension) < 5 * std::sqrt(2.0 * kDimension);
}

TEST(Release, NoiseHasThePlansScaleAndNoOther) {
  for (const auto dtype : {torch::kFloat32, torch::kFloat64}) {
    for (const auto& plan :
         {plan_with(trial::ClippingRule::auto_s, 0.01), plan_with(trial::ClippingRule::abadi, 0.4)}) {
      const double sd = plan.gradient_noise * plan.clipping.sensitivity();
      const auto noise = residual(plan, dtype);
      EXPECT_TRUE(has_deviation(noise, sd));
      EXPECT_FALSE(has_deviation(noise, sd * 2 / 3));
      EXPECT_FALSE(has_deviation(noise, sd * 3 / 2));
      EXPECT_LT(std::abs(noise.mean().item<double>()), 5 * sd / std::sqrt(double(kDimension)));
      EXPECT_GT((noise - residual(plan, dtype, 1)).abs().max().item<double>(), sd);
    }
  }
}

TEST(Release, DivisorIsThePlansAndNonPrivateHasNoNoise) {
  const auto plan = exact_config().privacy;
  auto sum = torch::full({3}, 6.0F);
  release_gradient(plan, kKey, 0, 0, sum);
  EXPECT_EQ(sum[0].item<float>(), 0.1F);
}

TEST(Release, WithoutNoiseAPrivateGradientIsRefused) {
  auto plan = plan_with(trial::ClippingRule::auto_s, 0.01);
  plan.gradient_noise = 0;
  auto sum = torch::zeros({3});
  EXPECT_THROW(release_gradient(plan, kKey, 0, 0, sum), std::logic_error);
  plan = plan_with(trial::ClippingRule::none, 0.01);
  EXPECT_THROW(release_gradient(plan, kKey, 0, 0, sum), std::logic_error);
}

TEST(Release, HashSeesEveryBit) {
  auto gradient = torch::arange(5, torch::kFloat32);
  const std::vector<double> losses = {1, 2, 3};
  const auto hash = release_hash(gradient, losses);
  EXPECT_EQ(hash.size(), 16U);
  EXPECT_EQ(hash, release_hash(gradient.clone(), losses));
  EXPECT_NE(hash, release_hash(gradient, std::vector<double>{1, 2, std::nextafter(3.0, 4.0)}));
  gradient[4] = std::nextafter(4.0F, 5.0F);
  EXPECT_NE(hash, release_hash(gradient, losses));
}

// Three blocks and a bit.
constexpr std::int64_t kSeveralBlocks = 3 * kReleaseBlock + 77;

TEST(Release, BlocksAndThreadsChangeNoBit) {
  const auto plan = plan_with(trial::ClippingRule::abadi, 0.4);
  const double scale = plan.gradient_noise * plan.clipping.sensitivity();
  const auto sum = at::sin(torch::arange(kSeveralBlocks, torch::kFloat32));
  auto one = sum.clone();
  const auto digest = release_gradient(plan, kKey, 4, 2, one);
  auto whole = sum.clone();
  random::add_normals(kKey, address_of(random::Purpose::gradient_noise, 4, 2), 0, scale,
                      std::span(whole.data_ptr<float>(), std::size_t(kSeveralBlocks)));
  whole.div_(plan.batch_size);
  EXPECT_TRUE(torch::equal(one, whole));
  const int before = at::get_num_threads();
  at::set_num_threads(3);
  auto three = sum.clone();
  EXPECT_EQ(release_gradient(plan, kKey, 4, 2, three), digest);
  at::set_num_threads(before);
  EXPECT_TRUE(torch::equal(one, three));
  EXPECT_EQ(release_hash(digest, {}), release_hash(one, {}));
}

TEST(Release, EveryBlockIsHandedOnOnceWhenItIsFinal) {
  const auto plan = plan_with(trial::ClippingRule::auto_s, 0.01);
  auto expected = torch::ones({kSeveralBlocks});
  const auto digest = release_gradient(plan, kKey, 0, 0, expected);
  auto sum = torch::ones({kSeveralBlocks});
  auto seen = torch::zeros({kSeveralBlocks});
  // The block is overwritten, which must not show in the digest.
  const auto after = release_gradient(plan, kKey, 0, 0, sum, [&](std::int64_t begin, std::int64_t end) {
    seen.narrow(0, begin, end - begin).add_(sum.narrow(0, begin, end - begin));
    sum.narrow(0, begin, end - begin).zero_();
  });
  EXPECT_TRUE(torch::equal(seen, expected));
  EXPECT_EQ(after, digest);
}

// at::parallel_for is serial in a file that is compiled without OpenMP, and nothing else would
// tell.
TEST(Release, BlocksAreSharedOutToThreads) {
  const int before = at::get_num_threads();
  at::set_num_threads(2);
  std::mutex guard;
  std::set<std::thread::id> threads;
  auto sum = torch::ones({kSeveralBlocks});
  release_gradient(plan_with(trial::ClippingRule::auto_s, 0.01), kKey, 0, 0, sum,
                   [&](std::int64_t, std::int64_t) {
                     const std::lock_guard lock(guard);
                     threads.insert(std::this_thread::get_id());
                   });
  at::set_num_threads(before);
  EXPECT_EQ(threads.size(), 2U);
}

TEST(Release, HashSeesEveryBlock) {
  auto gradient = torch::zeros({kSeveralBlocks});
  const auto hash = release_hash(gradient, {});
  for (const std::int64_t at : {std::int64_t{0}, kReleaseBlock - 1, kReleaseBlock, kSeveralBlocks - 1}) {
    auto other = gradient.clone();
    other[at] = -0.0F;
    EXPECT_NE(release_hash(other, {}), hash) << at;
  }
  EXPECT_NE(release_hash(torch::zeros({kSeveralBlocks + 1}), {}), hash);
  EXPECT_NE(release_hash(torch::zeros({0}), {}), release_hash(torch::zeros({1}), {}));
}

TEST(PrivateLoss, ASumIsClampedToItsBoundAndSaysIt) {
  const auto losses = torch::tensor({0.5, 1.0, 7.0, -1.0});
  const auto sum = bounded_loss_sum(losses, 2);
  EXPECT_NEAR(sum.sum, 3.5, 1e-15);
  EXPECT_EQ(sum.sensitivity, 2);
  EXPECT_THROW(bounded_loss_sum(losses, -1), std::logic_error);
}

// What one record can change is at most 1, whatever its loss is; what is not a number is the worst.
TEST(PrivateLoss, AScoreOfLossesIsBetweenNoneAndOneARecord) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(bounded_score_sum(torch::tensor({0.0, 1.0, 7.0, -1.0}), 2), 1 + 0.5 + 0 + 1);
  EXPECT_EQ(bounded_score_sum(torch::tensor({nan, inf, -inf}), 2), 1);
  EXPECT_EQ(bounded_score_sum(torch::zeros({0}), 2), 0);
  EXPECT_THROW(bounded_score_sum(torch::zeros({1}), 0), std::logic_error);
  // Exact in any order: no rounding adds to the sensitivity.
  const auto losses = torch::rand({10000}, torch::kFloat64) * 3;
  const double all = bounded_score_sum(losses, 1.7);
  EXPECT_EQ(bounded_score_sum(losses.flip(0), 1.7), all);
  EXPECT_EQ(bounded_score_sum(losses.slice(0, 1), 1.7) + bounded_score_sum(losses.slice(0, 0, 1), 1.7), all);
  EXPECT_NEAR(all, (1 - losses.clamp(0, 1.7) / 1.7).sum().item<double>(), 10000 * std::pow(2, -20));
}

}  // namespace release_test
}  // namespace hyfreedp::training
