// The transform against its formula in long double, at the words where it could go wrong, and one
// instruction set against the other.
#include "harness/random/box_muller.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <numbers>
#include <vector>

#include "harness/random/normal_pass.h"
#include "harness/random/stream.h"

namespace hyfreedp::random {
namespace box_muller_test {

// Around every power of two, the ends, the quarters and eighths of a turn and the halves of the
// logarithm's range.
std::vector<std::uint64_t> edge_words() {
  std::vector<std::uint64_t> words;
  const auto around = [&words](std::uint64_t centre) {
    for (const std::uint64_t step : {0ULL, 1ULL, 2ULL, 1ULL << 10, 1ULL << 11, 3ULL << 11, 1ULL << 30}) {
      words.push_back(centre + step);
      words.push_back(centre - step);
    }
  };
  for (int bit = 0; bit < 64; ++bit) {
    around(std::uint64_t{1} << bit);
    around(0xb504f333f9de6484U >> bit);  // 2^64 sqrt(1/2): where the logarithm's exponent changes
  }
  for (std::uint64_t eighth = 0; eighth < 8; ++eighth) around(eighth << 61);
  return words;
}

std::vector<std::uint64_t> drawn_words(std::size_t count) {
  std::vector<std::uint64_t> words(count);
  fill_bits(key_from_seed("box_muller_test"), {}, 0, words);
  // Every magnitude of word, and words as close to 2^64.
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 2 == 1) words[i] >>= i / 2 % 64;
    if (i % 4 == 3) words[i] = ~words[i];
  }
  return words;
}

double ulps(double got, long double exact) {
  const double magnitude = static_cast<double>(std::abs(exact));
  const double unit = std::nextafter(magnitude, std::numeric_limits<double>::infinity()) - magnitude;
  return static_cast<double>(std::abs(static_cast<long double>(got) - exact) / unit);
}

struct ExactTurn {
  long double cosine, sine;
};

// Exact reduction to an eighth of a turn, then the library.
ExactTurn exact_turn(std::uint64_t word) {
  const std::uint64_t whole = word >> 11;
  const std::uint64_t quarters = (whole + (std::uint64_t{1} << 50)) >> 51;
  const auto rest = static_cast<std::int64_t>(whole) - static_cast<std::int64_t>(quarters << 51);
  const long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(rest) * 0x1p-53L;
  const long double c = std::cos(angle), s = std::sin(angle);
  switch (quarters % 4) {
    case 0:
      return {c, s};
    case 1:
      return {-s, c};
    case 2:
      return {-c, -s};
    default:
      return {s, -c};
  }
}

double unit_of(std::uint64_t word) { return (double_of_word(word) + 1.0) * 0x1p-64; }

TEST(BoxMuller, WordsBecomeTheNearestDouble) {
  auto words = edge_words();
  for (const auto word : drawn_words(20000)) words.push_back(word);
  for (const auto word : words) ASSERT_EQ(double_of_word(word), static_cast<double>(word)) << word;
}

TEST(BoxMuller, LogarithmIsWithinOneAndAHalfUlp) {
  double worst = 0;
  auto words = edge_words();
  for (const auto word : drawn_words(200000)) words.push_back(word);
  for (const auto word : words) {
    const double u = unit_of(word);
    if (u == 1) continue;
    worst = std::max(worst, ulps(log_of_unit(u), std::log(static_cast<long double>(u))));
  }
  EXPECT_LT(worst, 1.5);
  EXPECT_EQ(log_of_unit(1.0), 0.0);
  EXPECT_EQ(log_of_unit(0.5), -std::numbers::ln2);
}

TEST(BoxMuller, TurnIsWithinTwoUlp) {
  double worst = 0;
  auto words = edge_words();
  for (const auto word : drawn_words(200000)) words.push_back(word);
  for (const auto word : words) {
    const Turn turn = turn_of_word(word);
    const ExactTurn exact = exact_turn(word);
    if (exact.cosine != 0) worst = std::max(worst, ulps(turn.cosine, exact.cosine));
    if (exact.sine != 0) worst = std::max(worst, ulps(turn.sine, exact.sine));
    EXPECT_TRUE(exact.cosine != 0 || turn.cosine == 0) << word;
    EXPECT_TRUE(exact.sine != 0 || turn.sine == 0) << word;
  }
  EXPECT_LT(worst, 2);
}

TEST(BoxMuller, NormalsAreWithinFourUlp) {
  double worst = 0;
  const auto radii = edge_words();
  const auto angles = drawn_words(radii.size());
  for (std::size_t i = 0; i < radii.size(); ++i) {
    const long double u = unit_of(radii[i]);
    const long double radius = std::sqrt(-2 * std::log(u));
    const NormalPair z = box_muller(radii[i], angles[i]);
    const ExactTurn turn = exact_turn(angles[i]);
    if (radius * turn.cosine != 0) worst = std::max(worst, ulps(z.first, radius * turn.cosine));
    if (radius * turn.sine != 0) worst = std::max(worst, ulps(z.second, radius * turn.sine));
  }
  EXPECT_LT(worst, 4);
}

TEST(BoxMuller, EndsAndRightAngles) {
  constexpr std::uint64_t kOnes = ~std::uint64_t{0};
  const double longest = std::sqrt(128 * std::numbers::ln2);  // 9.42
  EXPECT_DOUBLE_EQ(box_muller(0, 0).first, longest);
  EXPECT_EQ(box_muller(0, 0).second, 0.0);
  EXPECT_DOUBLE_EQ(box_muller(0, std::uint64_t{1} << 62).second, longest);
  EXPECT_DOUBLE_EQ(box_muller(0, std::uint64_t{1} << 63).first, -longest);
  EXPECT_DOUBLE_EQ(box_muller(0, std::uint64_t{3} << 62).second, -longest);
  for (const auto angle : edge_words()) {
    EXPECT_EQ(box_muller(kOnes, angle).first, 0.0);
    EXPECT_EQ(box_muller(kOnes, angle).second, 0.0);
  }
  // Just below a whole turn: the sine is small, negative and relatively exact.
  EXPECT_DOUBLE_EQ(turn_of_word(kOnes).sine, -2 * std::numbers::pi * 0x1p-53);
}

TEST(NormalPass, EveryInstructionSetGivesTheBitsOfThePlainFunction) {
  auto words = drawn_words(20001);
  for (const auto word : edge_words()) words.push_back(word);
  if (words.size() % 2 == 1) words.pop_back();
  std::vector<double> plain(words.size());
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const NormalPair pair = box_muller(words[i], words[i + 1]);
    plain[i] = pair.first;
    plain[i + 1] = pair.second;
  }
  ASSERT_FALSE(normal_passes().empty());
  for (const NormalPass& pass : normal_passes()) {
    std::vector<double> z(words.size());
    pass.transform(words.data(), words.size() / 2, z.data());
    EXPECT_EQ(std::memcmp(z.data(), plain.data(), z.size() * sizeof(double)), 0) << pass.name;
    std::vector<float> narrow(z.size(), 0.1F);
    std::vector<double> wide(z.size(), 0.1);
    pass.add_float(z.data(), z.size(), 2.5, narrow.data());
    pass.add_double(z.data(), z.size(), 2.5, wide.data());
    for (std::size_t i = 0; i < z.size(); ++i) {
      ASSERT_EQ(narrow[i], static_cast<float>(static_cast<double>(0.1F) + 2.5 * plain[i])) << pass.name;
      ASSERT_EQ(wide[i], 0.1 + 2.5 * plain[i]) << pass.name;
    }
  }
}

}  // namespace box_muller_test
}  // namespace hyfreedp::random
