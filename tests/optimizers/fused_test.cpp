// The one-pass CPU loops against the same rules as tensor operations.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <random>

#include "optimizers/adam.h"
#include "optimizers/dpadamwosm.h"
#include "optimizers/sgd.h"
#include "optimizers/sums.h"
#include "optimizers/vectors.h"

namespace hyfreedp::optimizers {
namespace {

constexpr std::int64_t kSize = 1003;  // not a multiple of any vector width
constexpr int kSteps = 30;

torch::Tensor drawn(std::mt19937_64& generator, torch::ScalarType type) {
  std::normal_distribution<double> normal;
  std::vector<double> values(kSize);
  for (auto& value : values) value = normal(generator);
  return torch::tensor(values, torch::kDouble).to(type);
}

double tolerance(torch::ScalarType type) { return type == torch::kFloat ? 2e-6 : 4e-15; }

void expect_close(const torch::Tensor& fused, const torch::Tensor& plain, const std::string& where) {
  const double scale = std::max(1.0, plain.abs().max().item<double>());
  EXPECT_LE(fused.sub(plain).abs().max().item<double>() / scale, tolerance(plain.scalar_type())) << where;
}

// Uneven pieces, last ones first.
void in_pieces(const PieceWork& work) {
  work(700, kSize);
  work(1, 700);
  work(0, 1);
}

class Fused : public ::testing::TestWithParam<torch::ScalarType> {};
INSTANTIATE_TEST_SUITE_P(Types, Fused, ::testing::Values(torch::kFloat, torch::kDouble));

TEST_P(Fused, AdamEqualsThePlainRule) {
  for (const bool decoupled : {false, true}) {
    for (const bool amsgrad : {false, true}) {
      for (const double decay : {0.0, 0.1}) {
        const AdamRule rule{{.weight_decay = decay, .amsgrad = amsgrad}, decoupled};
        std::mt19937_64 generator(1);
        const auto x = drawn(generator, GetParam());
        AdamMoments plain{torch::zeros_like(x), torch::zeros_like(x), torch::zeros_like(x)};
        AdamMoments fused{torch::zeros_like(x), torch::zeros_like(x), torch::zeros_like(x)};
        auto u = torch::empty_like(x), v = torch::empty_like(x);
        for (int t = 1; t <= kSteps; ++t) {
          const auto g = drawn(generator, GetParam()).mul_(t % 3 == 0 ? 0.01 : 1);
          adam_direction(rule, t, g, x, plain, u);
          in_pieces(adam_pieces(rule, t, g, x, fused, v));
          expect_close(v, u, "direction");
          expect_close(fused.second, plain.second, "second moment");
        }
      }
    }
  }
}

TEST_P(Fused, SgdEqualsThePlainRule) {
  const SgdOptions rules[] = {{},
                              {.weight_decay = 0.1},
                              {.momentum = 0.9},
                              {.momentum = 0.9, .dampening = 0.3, .weight_decay = 0.1},
                              {.momentum = 0.9, .weight_decay = 0.1, .nesterov = true}};
  for (const auto& rule : rules) {
    std::mt19937_64 generator(2);
    const auto x = drawn(generator, GetParam());
    torch::Tensor plain, fused;
    if (rule.momentum > 0) plain = torch::zeros_like(x), fused = torch::zeros_like(x);
    auto u = torch::empty_like(x), v = torch::empty_like(x);
    for (int t = 0; t < kSteps; ++t) {
      const auto g = drawn(generator, GetParam());
      sgd_direction(rule, t == 0, g, x, plain, u);
      in_pieces(sgd_pieces(rule, t == 0, g, x, fused, v));
      expect_close(v, u, "direction");
    }
  }
}

TEST_P(Fused, DpAdamWosmEqualsThePlainRule) {
  for (const double decay : {0.0, 0.1}) {
    const WosmRule rule{{.weight_decay = decay}, 0.02};
    std::mt19937_64 generator(3);
    const auto x = drawn(generator, GetParam());
    auto plain = torch::zeros_like(x), fused = torch::zeros_like(x);
    auto u = torch::empty_like(x), v = torch::empty_like(x);
    for (int t = 1; t <= kSteps; ++t) {
      const auto g = drawn(generator, GetParam());
      wosm_direction(rule, t, g, x, plain, u);
      in_pieces(wosm_pieces(rule, t, g, x, fused, v));
      expect_close(v, u, "direction");
    }
  }
}

TEST_P(Fused, IsUsedOnDenseCpuVectorsOnly) {
  const auto dense = torch::zeros({8}, GetParam());
  EXPECT_TRUE(can_fuse({&dense, &dense}));
  const auto strided = torch::zeros({16}, GetParam()).slice(0, 0, 16, 2);
  EXPECT_FALSE(can_fuse({&dense, &strided}));
  const auto other = torch::zeros({8}, GetParam() == torch::kFloat ? torch::kDouble : torch::kFloat);
  EXPECT_FALSE(can_fuse({&dense, &other}));
  const auto whole = torch::zeros({8}, torch::kLong);
  EXPECT_FALSE(can_fuse({&whole}));
}

TEST(Sums, DoNotDependOnTheNumberOfThreads) {
  const auto vector = at::sin(torch::arange(200003, torch::kDouble)).to(torch::kFloat);
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const double one = sum_of_squares(vector), magnitudes = sum_of_magnitudes(vector);
  at::set_num_threads(3);
  EXPECT_EQ(sum_of_squares(vector), one);
  EXPECT_EQ(sum_of_magnitudes(vector), magnitudes);
  at::set_num_threads(before);
  EXPECT_NEAR(one, vector.to(torch::kDouble).square().sum().item<double>(), 1e-9 * one);
  EXPECT_NEAR(magnitudes, vector.to(torch::kDouble).abs().sum().item<double>(), 1e-9 * magnitudes);
}

TEST(Sums, AreTakenInDoublePrecision) {
  // In float32 arithmetic the ones would vanish beside 2^24.
  std::vector<float> values(1001, 1.0F);
  values[0] = 16777216.0F;
  const auto vector = torch::tensor(values);
  EXPECT_EQ(sum_of_magnitudes(vector.neg()), 16777216.0 + 1000);
  EXPECT_EQ(sum_of_products(vector, torch::ones_like(vector)), 16777216.0 + 1000);
  EXPECT_EQ(sum_of_squares(vector), 16777216.0 * 16777216.0 + 1000);
  const double fine = 1 + 0x1p-12;  // its square needs 25 bits
  EXPECT_EQ(sum_of_squares(torch::tensor({float(fine)})), fine * fine);
}

}  // namespace
}  // namespace hyfreedp::optimizers
