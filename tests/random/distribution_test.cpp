// Distributions of uniforms, coins and draws (normals: noise_test.cpp). Seeds are fixed; "false
// failure" is the chance that a fresh seed would fail a right implementation.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numbers>
#include <string>

#include "harness/random/draws.h"
#include "harness/random/stream.h"
#include "tests/random/noise_judge.h"

namespace hyfreedp::random {
namespace distribution_test {

const Key kKey = key_from_seed("distribution_test");

// 64 cells, 1e6 draws: chi-square with 63 degrees of freedom exceeds 152 with probability 1e-9.
TEST(Uniforms, FillTheUnitInterval) {
  std::vector<double> u(1000000);
  fill_uniforms(kKey, {.purpose = Purpose::split}, 0, u);
  std::vector<double> cells(64, 0.0);
  for (const double x : u) {
    ASSERT_GE(x, 0.0);
    ASSERT_LT(x, 1.0);
    cells[static_cast<std::size_t>(x * 64.0)] += 1.0;
  }
  const double expected = 1e6 / 64.0;
  double chi_square = 0.0;
  for (const double count : cells) chi_square += (count - expected) * (count - expected) / expected;
  EXPECT_LT(chi_square, 152.0);
}

// Total inclusions over many steps within 6 standard errors (2e-9) of the rate, and not within them
// of 2/3 or 3/2 of it.
TEST(PoissonSample, IncludesAtTheRate) {
  constexpr std::int64_t kPopulation = 50000;
  constexpr std::uint32_t kSteps = 300;
  for (const double rate : {0.02, 0.5, 0.999, 1e-4}) {
    double total = 0.0;
    for (std::uint32_t step = 0; step < kSteps; ++step) {
      total += static_cast<double>(poisson_sample(kKey, {.step = step}, kPopulation, rate).size());
    }
    const double n = static_cast<double>(kPopulation) * kSteps;
    const auto agrees = [&](double claimed) {
      return std::abs(total - n * claimed) <= kStandardErrors * std::sqrt(n * claimed * (1.0 - claimed));
    };
    EXPECT_TRUE(agrees(rate)) << rate << ": " << total / n;
    EXPECT_FALSE(agrees(rate * 2.0 / 3.0));
    EXPECT_FALSE(agrees(std::min(1.0, rate * 1.5)));
  }
}

TEST(PoissonSample, IsSortedStatelessAndExactAtTheEnds) {
  const Address address{.step = 4, .purpose = Purpose::probe_sampling};
  const auto some = poisson_sample(kKey, address, 10000, 0.1);
  EXPECT_TRUE(std::is_sorted(some.begin(), some.end()));
  EXPECT_EQ(std::adjacent_find(some.begin(), some.end()), some.end());
  EXPECT_EQ(some, poisson_sample(kKey, address, 10000, 0.1));
  // An example's coin does not depend on how many other examples there are.
  auto shorter = poisson_sample(kKey, address, 5000, 0.1);
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), some.begin()));
  EXPECT_EQ(shorter.size(),
            static_cast<std::size_t>(std::lower_bound(some.begin(), some.end(), 5000) - some.begin()));
  EXPECT_EQ(poisson_sample(kKey, address, 1000, 1.0).size(), 1000u);
  EXPECT_TRUE(poisson_sample(kKey, address, 1000, 0.0).empty());
  EXPECT_TRUE(poisson_sample(kKey, address, 0, 0.5).empty());
  EXPECT_THROW(poisson_sample(kKey, address, 10, 1.5), std::logic_error);
  EXPECT_THROW(poisson_sample(kKey, address, 10, std::nan("")), std::logic_error);
}

TEST(PoissonSample, TheThresholdIsTheWordItself) {
  const Address address{.step = 9};
  std::vector<std::uint64_t> words(4000);
  fill_bits(kKey, address, 0, words);
  const double rate = 0.3;
  std::vector<std::int64_t> expected;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (static_cast<long double>(words[i]) < static_cast<long double>(rate) * 0x1p64L) {
      expected.push_back(static_cast<std::int64_t>(i));
    }
  }
  EXPECT_EQ(poisson_sample(kKey, address, 4000, rate), expected);
}

// Two examples' coins over 20000 steps: joint inclusion within 6 standard errors (2e-9).
TEST(PoissonSample, CoinsOfNeighboursAreIndependent) {
  constexpr std::uint32_t kSteps = 20000;
  double both = 0.0;
  for (std::uint32_t step = 0; step < kSteps; ++step) {
    both += poisson_sample(kKey, {.step = step, .lane = 3}, 2, 0.5).size() == 2 ? 1.0 : 0.0;
  }
  EXPECT_LT(std::abs(both - kSteps * 0.25), kStandardErrors * std::sqrt(kSteps * 0.25 * 0.75));
}

// Each residue's count within 6 standard errors. n = 3 * 2^62 makes a plain remainder favour its
// lower third 2 : 1.
TEST(Draws, IntegersAreUnbiased) {
  Draws draws(kKey, {.purpose = Purpose::selection});
  constexpr int kCount = 60000;
  std::array<int, 6> dice{};
  int low = 0;
  constexpr std::uint64_t kWide = std::uint64_t{3} << 62;
  for (int i = 0; i < kCount; ++i) {
    ++dice[draws.below(6)];
    const auto wide = draws.below(kWide);
    ASSERT_LT(wide, kWide);
    low += wide < kWide / 3 ? 1 : 0;
  }
  for (const int count : dice) {
    EXPECT_LT(std::abs(count - kCount / 6.0), kStandardErrors * std::sqrt(kCount * 5.0 / 36.0));
  }
  EXPECT_LT(std::abs(low - kCount / 3.0), kStandardErrors * std::sqrt(kCount * 2.0 / 9.0));
  EXPECT_EQ(draws.below(1), 0u);
  EXPECT_THROW(draws.below(0), std::logic_error);
}

TEST(Draws, NormalAndLaplaceHaveTheirMoments) {
  Draws draws(kKey, {.purpose = Purpose::score_noise});
  constexpr std::size_t kCount = 200000;
  std::vector<double> z(kCount);
  double absolute = 0.0, sum = 0.0, beyond = 0.0;
  for (double& x : z) {
    x = draws.normal();
    const double l = draws.laplace(2.0);
    sum += l;
    absolute += std::abs(l);
    beyond += std::abs(l) > 2.0 * std::log(100.0) ? 1.0 : 0.0;
  }
  EXPECT_EQ(judge_normals(z), "");
  const double n = kCount;
  // Laplace(2): variance 8, E|x| = 2 with variance 4, P(|x| > 2 ln 100) = 0.01; each within 6
  // standard errors.
  EXPECT_LT(std::abs(sum / n), kStandardErrors * std::sqrt(8.0 / n));
  EXPECT_LT(std::abs(absolute / n - 2.0), kStandardErrors * std::sqrt(4.0 / n));
  EXPECT_GT(std::abs(absolute / n - 3.0), kStandardErrors * std::sqrt(4.0 / n));
  EXPECT_LT(std::abs(beyond / n - 0.01), kStandardErrors * std::sqrt(0.0099 / n));
}

// All 24 orders of four equally often: each count within 6 standard errors.
TEST(Permutation, IsUniformAndComplete) {
  std::vector<int> counts(256, 0);
  constexpr int kCount = 24000;
  for (std::uint32_t step = 0; step < kCount; ++step) {
    const auto order = permutation(kKey, {.step = step, .purpose = Purpose::shuffling}, 4);
    ++counts[static_cast<std::size_t>(order[0] + 4 * order[1] + 16 * order[2] + 64 * order[3])];
  }
  int orders = 0;
  for (const int count : counts) {
    if (count == 0) continue;
    ++orders;
    EXPECT_LT(std::abs(count - 1000), kStandardErrors * std::sqrt(1000.0 * 23.0 / 24.0));
  }
  EXPECT_EQ(orders, 24);
  EXPECT_TRUE(permutation(kKey, {}, 0).empty());
}

// A word is below the threshold from the next rate on that a double can hold. Of 2^17 words some 64
// are themselves a rate times 2^64.
TEST(PoissonSample, ACoinExactlyAtTheRateIsNotIn) {
  const Address address{.step = 10};
  std::vector<std::uint64_t> words(1 << 17);
  fill_bits(kKey, address, 0, words);
  int exact = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] % (1 << 11) != 0) continue;
    ++exact;
    const double rate = std::ldexp(static_cast<double>(words[i]), -64);
    const auto is_in = [&](double at) {
      const auto some = poisson_sample(kKey, address, static_cast<std::int64_t>(i) + 1, at);
      return !some.empty() && some.back() == static_cast<std::int64_t>(i);
    };
    ASSERT_FALSE(is_in(rate)) << i;
    ASSERT_FALSE(is_in(std::nextafter(rate, 0.0))) << i;
    ASSERT_TRUE(is_in(std::nextafter(rate, 1.0))) << i;
    if (exact == 8) break;
  }
  EXPECT_EQ(exact, 8);
}

}  // namespace distribution_test
}  // namespace hyfreedp::random
