// Normal noise: scale, shape and tails to 6 standard deviations, and independence of whatever
// addresses differ. Seeds are fixed; noise_judge.h states how often each check would fail under a
// fresh one. What must be rejected is: every check that looks at the scale rejects 2/3 and 3/2 by
// itself, and the checks of independence reject a copied stream.
#include <cstdlib>
#include <gtest/gtest.h>
#include <numeric>
#include <span>
#include <thread>

#include "harness/random/box_muller.h"
#include "harness/random/stream.h"
#include "tests/random/noise_judge.h"

namespace hyfreedp::random {
namespace noise_test {

const Key kKey = key_from_seed("noise_test");

Sample drawn(const Address& address, std::size_t n, std::uint64_t first = 0) {
  Sample z(n);
  fill_normals(kKey, address, first, z);
  return z;
}

Address noise_at(std::uint32_t step) { return {.step = step, .purpose = Purpose::gradient_noise}; }

TEST(Normals, AreAcceptedAsStandardNormal) { EXPECT_EQ(judge_normals(drawn(noise_at(1), 2000000)), ""); }

TEST(Normals, EveryCheckOfScaleRejectsTwoThirdsAndThreeHalvesByItself) {
  const auto right = drawn(noise_at(2), 200000);
  ASSERT_EQ(judge_normals(right), "");
  const auto low = scaled(right, 2.0 / 3.0), high = scaled(right, 3.0 / 2.0);
  for (const Check& check : kChecks) {
    EXPECT_EQ(check.fits(low), !check.sees_scale) << check.name;
    EXPECT_EQ(check.fits(high), !check.sees_scale) << check.name;
  }
  EXPECT_NE(judge_normals(scaled(right, 1.02)), "");
}

TEST(Normals, WrongShapesAreRejected) {
  const auto right = drawn(noise_at(2), 200000);
  const auto changed = [&right](auto&& change) {
    auto z = right;
    for (double& x : z) x = change(x);
    return judge_normals(z);
  };
  EXPECT_EQ(changed([](double x) { return x + 0.02; }), "mean");
  EXPECT_NE(changed([](double x) { return std::clamp(x, -3.0, 3.0); }), "");
  // A logistic variable of the same variance: the normal's quantile replaced.
  EXPECT_NE(changed([](double x) {
              const double p = normal_cdf(x);
              return std::log(p / (1.0 - p)) * std::numbers::sqrt3 / std::numbers::pi;
            }),
            "");
  EXPECT_NE(changed([](double x) { return x > 0 ? x * 1.05 : x * 0.95; }), "");
  auto repeated = right;
  for (std::size_t i = 1; i < repeated.size(); i += 2) repeated[i] = repeated[i - 1];
  EXPECT_EQ(judge_normals(repeated), "neighbours");
  // A second half that copies the magnitudes of the first: uncorrelated by sign, but the squares
  // tell.
  for (std::size_t i = 1; i < repeated.size(); i += 4) repeated[i] = -repeated[i - 1];
  EXPECT_EQ(judge_normals(repeated), "neighbours");
}

TEST(Normals, AddNormalsHasTheScaleItWasGiven) {
  std::vector<float> noisy(400000, 0.0f);
  add_normals(kKey, noise_at(3), 0, 0.75, std::span<float>(noisy));
  const Sample z(noisy.begin(), noisy.end());
  EXPECT_NE(judge_normals(z), "");
  EXPECT_EQ(judge_normals(scaled(z, 1 / 0.75)), "");
  EXPECT_NE(judge_normals(scaled(z, 1.5 / 0.75)), "");
}

// Exceedances of 4, 5 and 6 in 2e7 draws (2e8 with HYFREEDP_SLOW): expected 1267, 11.5 and 0.04
// (0.4). Exact binomials, 3e-9 together.
TEST(Normals, TailsAreNotCutAndNotHeavy) {
  const std::uint32_t pieces = std::getenv("HYFREEDP_SLOW") != nullptr ? 1000 : 100;
  constexpr std::size_t kPiece = 200000;
  constexpr double kLevels[] = {4.0, 5.0, 6.0};
  // Beyond the levels of the draws as they are, times 2/3 and times 3/2.
  constexpr double kScales[] = {1.0, 2.0 / 3.0, 3.0 / 2.0};
  std::uint64_t beyond[3][3] = {};
  Sample z(kPiece);
  for (std::uint32_t piece = 0; piece < pieces; ++piece) {
    fill_normals(kKey, noise_at(100), std::uint64_t{piece} * kPiece, z);
    for (int scale = 0; scale < 3; ++scale) {
      for (int level = 0; level < 3; ++level)
        beyond[scale][level] += count_beyond(z, kLevels[level] / kScales[scale]);
    }
  }
  const std::uint64_t n = std::uint64_t{pieces} * kPiece;
  const auto agrees = [&](int scale, int level) {
    return count_agrees(beyond[scale][level], n, two_sided_tail(kLevels[level]));
  };
  for (int level = 0; level < 3; ++level) {
    EXPECT_TRUE(agrees(0, level)) << kLevels[level];
    EXPECT_FALSE(agrees(2, level)) << kLevels[level];
  }
  EXPECT_GT(beyond[0][1], 0u);  // tails cut at 5
  EXPECT_FALSE(agrees(1, 0));   // tails of 2/3 are seen at 4; too few lie beyond 5 to miss them
}

// Far tails without waiting for them: given that the radius word has `bits` leading zeros, the
// radius lies beyond r = sqrt(2 bits ln 2) and P(|z| > t | that) = P(|z| > t) 2^bits for t >= r,
// exactly. A million draws each; the levels reach 8 standard deviations. 4 counts, 4e-9 together; a
// scale off by 2% is seen at every one.
TEST(Normals, FarTailsFollowTheNormalGivenTheRadiusWord) {
  constexpr std::size_t kPairs = 500000;
  std::vector<std::uint64_t> words(2 * kPairs);
  fill_bits(kKey, noise_at(200), 0, words);
  struct Case {
    int bits;
    double level;
  };
  for (const auto [bits, level] : {Case{24, 6.0}, Case{24, 6.2}, Case{33, 7.0}, Case{45, 8.0}}) {
    ASSERT_GE(level, std::sqrt(2.0 * bits * std::numbers::ln2));
    Sample z(words.size());
    for (std::size_t k = 0; k < kPairs; ++k) {
      const auto pair = box_muller(words[2 * k] >> bits, words[2 * k + 1]);
      z[2 * k] = pair.first;
      z[2 * k + 1] = pair.second;
    }
    // The two of a pair are not independent given the radius, but both beyond such a level would
    // need a radius of sqrt(2) of it: less than once in 1e9 draws.
    const double probability = std::ldexp(two_sided_tail(level), bits);
    EXPECT_TRUE(count_agrees(count_beyond(z, level), z.size(), probability)) << level;
    for (const double scale : {2.0 / 3.0, 0.98, 1.02, 3.0 / 2.0}) {
      EXPECT_FALSE(count_agrees(count_beyond(z, level / scale), z.size(), probability))
          << level << ' ' << scale;
    }
  }
}

// One address and those that differ from it in one field.
std::vector<Address> neighbours_of(const Address& base) {
  std::vector<Address> all(11, base);
  all[1].step += 1;
  all[2].step ^= 0x80000000;
  all[3].tensor += 1;
  all[4].tensor ^= 0x8000;
  all[5].purpose = Purpose::probe_noise;
  all[6].purpose = Purpose::score_noise;
  all[7].lane += 1;
  all[8].lane ^= 0x80;
  all[9].attempt += 1;
  all[10].attempt ^= 0x8000;
  return all;
}

constexpr Address kBase{.step = 1, .tensor = 1, .purpose = Purpose::gradient_noise, .lane = 1, .attempt = 1};

// 55 pairs of addresses, 2 sums each: 2e-7.
TEST(Independence, OverStepTensorPurposeLaneAndAttempt) {
  std::vector<Sample> streams;
  for (const auto& address : neighbours_of(kBase)) streams.push_back(drawn(address, 100000));
  for (std::size_t a = 0; a < streams.size(); ++a) {
    EXPECT_EQ(judge_normals(streams[a]), "") << a;
    for (std::size_t b = a + 1; b < streams.size(); ++b) {
      EXPECT_TRUE(uncorrelated(streams[a], streams[b])) << a << ' ' << b;
    }
  }
  // What the check is for: the same stream, its negative, a scaled copy, and one that is a tenth
  // copied.
  EXPECT_FALSE(uncorrelated(streams[0], streams[0]));
  EXPECT_FALSE(uncorrelated(streams[0], scaled(streams[0], -1)));
  EXPECT_FALSE(uncorrelated(streams[0], scaled(streams[0], 2.0 / 3.0)));
  EXPECT_FALSE(uncorrelated(streams[0], scaled(streams[0], 3.0 / 2.0)));
  auto partly = streams[1];
  std::copy(streams[0].begin(), streams[0].begin() + 10000, partly.begin());
  EXPECT_FALSE(uncorrelated(streams[0], partly));
}

bool any_twice(std::vector<std::uint64_t> words) {
  std::sort(words.begin(), words.end());
  return std::adjacent_find(words.begin(), words.end()) != words.end();
}

// A stream that overlaps another at any shift repeats its words. 1.1e6 words: by chance 3e-8.
TEST(Independence, NoAddressRepeatsAWordOfAnother) {
  constexpr std::size_t kWords = 100000;
  std::vector<std::uint64_t> words;
  for (const auto& address : neighbours_of(kBase)) {
    std::vector<std::uint64_t> some(kWords);
    fill_bits(kKey, address, 0, some);
    words.insert(words.end(), some.begin(), some.end());
  }
  EXPECT_FALSE(any_twice(words));
  std::vector<std::uint64_t> shifted(kWords);
  fill_bits(kKey, kBase, kWords - 1, shifted);  // one word in common
  shifted.insert(shifted.end(), words.begin(), words.begin() + kWords);
  EXPECT_TRUE(any_twice(shifted));
}

// Summing k independent streams multiplies the variance by k; the checks then see whether any pair
// was not.
TEST(Independence, StepsAddUpLikeIndependentOnes) {
  constexpr std::uint32_t kSteps = 64;
  Sample total(50000, 0.0);
  for (std::uint32_t step = 0; step < kSteps; ++step) {
    add_normals(kKey, noise_at(1000 + step), 0, 1.0 / std::sqrt(kSteps), std::span<double>(total));
  }
  EXPECT_EQ(judge_normals(total), "");
  // One step used twice instead of two: variance (62 + 4) / 64, 1.03; here four of them.
  Sample reused(50000, 0.0);
  for (std::uint32_t step = 0; step < kSteps; ++step) {
    add_normals(kKey, noise_at(1000 + (step < 8 ? step / 2 * 2 : step)), 0, 1.0 / std::sqrt(kSteps),
                std::span<double>(reused));
  }
  EXPECT_NE(judge_normals(reused), "");
}

// Ranks of a data-parallel run draw their own pieces of one stream: together they are the whole,
// bit for bit, wherever it is cut and by however many threads.
TEST(Ranks, PiecesOfOneStreamAreTheWhole) {
  constexpr std::size_t kSize = 100003;
  std::vector<float> whole(kSize, 0.25F);
  add_normals(kKey, noise_at(7), 0, 1.5, std::span<float>(whole));
  for (const std::size_t ranks : {2u, 3u, 7u, 16u}) {
    std::vector<float> pieces(kSize, 0.25F);
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const std::size_t begin = kSize * rank / ranks, end = kSize * (rank + 1) / ranks;
      threads.emplace_back([&pieces, begin, end] {
        add_normals(kKey, noise_at(7), begin, 1.5, std::span<float>(pieces).subspan(begin, end - begin));
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(pieces, whole) << ranks;
  }
}

// A rank that drew another's piece would be seen. 6 pairs, 2 sums each: 2e-8.
TEST(Ranks, PiecesAreIndependentOfEachOther) {
  constexpr std::size_t kPiece = 100000;
  std::vector<Sample> pieces;
  for (std::size_t rank = 0; rank < 4; ++rank) pieces.push_back(drawn(noise_at(8), kPiece, rank * kPiece));
  for (std::size_t a = 0; a < pieces.size(); ++a) {
    for (std::size_t b = a + 1; b < pieces.size(); ++b) EXPECT_TRUE(uncorrelated(pieces[a], pieces[b]));
  }
  EXPECT_FALSE(uncorrelated(pieces[1], drawn(noise_at(8), kPiece, kPiece)));
}

}  // namespace noise_test
}  // namespace hyfreedp::random
