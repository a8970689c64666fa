// The keystream itself: known answer, addressing, and independence of how a range is cut.
#include "harness/random/stream.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <numbers>
#include <numeric>
#include <set>

namespace hyfreedp::random {
namespace stream_test {

const Key kKey = key_from_seed("stream_test");

std::vector<std::uint64_t> bits(const Key& key, const Address& address, std::uint64_t first,
                                std::size_t count) {
  std::vector<std::uint64_t> out(count);
  fill_bits(key, address, first, out);
  return out;
}

std::vector<double> normals(const Address& address, std::uint64_t first, std::size_t count) {
  std::vector<double> out(count);
  fill_normals(kKey, address, first, out);
  return out;
}

// RFC 8439, appendix A.1, test vector 1 (all-zero key and nonce, block 0) and 2 (block 1).
TEST(Stream, KnownAnswersOfRfc8439) {
  const unsigned char block0[64] = {
      0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90, 0x40, 0x5d, 0x6a, 0xe5, 0x53, 0x86, 0xbd, 0x28,
      0xbd, 0xd2, 0x19, 0xb8, 0xa0, 0x8d, 0xed, 0x1a, 0xa8, 0x36, 0xef, 0xcc, 0x8b, 0x77, 0x0d, 0xc7,
      0xda, 0x41, 0x59, 0x7c, 0x51, 0x57, 0x48, 0x8d, 0x77, 0x24, 0xe0, 0x3f, 0xb8, 0xd8, 0x4a, 0x37,
      0x6a, 0x43, 0xb8, 0xf4, 0x15, 0x18, 0xa1, 0x1c, 0xc3, 0x87, 0xb6, 0x69, 0xb2, 0xee, 0x65, 0x86};
  const unsigned char block1[16] = {0x9f, 0x07, 0xe7, 0xbe, 0x55, 0x51, 0x38, 0x7a,
                                    0x98, 0xba, 0x97, 0x7c, 0x73, 0x2d, 0x08, 0x0d};
  const auto words = bits(Key{}, Address{}, 0, 16);
  EXPECT_EQ(std::memcmp(words.data(), block0, sizeof block0), 0);
  EXPECT_EQ(std::memcmp(words.data() + 8, block1, sizeof block1), 0);
}

// RFC 8439, section 2.3.2: key 00..1f, block 1, nonce 00 00 00 09 | 00 00 00 4a | 00 00 00 00. The
// nonce is spelled through our packing: step = its first four bytes, tensor, purpose and lane the
// next, attempt and spare the last.
TEST(Stream, NoncePackingMatchesRfc8439Section232) {
  Key key;
  std::iota(key.bytes.begin(), key.bytes.end(), static_cast<unsigned char>(0));
  const Address address{.step = 0x09000000, .tensor = 0, .purpose = Purpose{0}, .lane = 0x4a, .attempt = 0};
  const unsigned char expected[64] = {
      0x10, 0xf1, 0xe7, 0xe4, 0xd1, 0x3b, 0x59, 0x15, 0x50, 0x0f, 0xdd, 0x1f, 0xa3, 0x20, 0x71, 0xc4,
      0xc7, 0xd1, 0xf4, 0xc7, 0x33, 0xc0, 0x68, 0x03, 0x04, 0x22, 0xaa, 0x9a, 0xc3, 0xd4, 0x6c, 0x4e,
      0xd2, 0x82, 0x64, 0x46, 0x07, 0x9f, 0xaa, 0x09, 0x14, 0xc2, 0xd7, 0x05, 0xd9, 0x8b, 0x02, 0xa2,
      0xb5, 0x12, 0x9c, 0xd1, 0xde, 0x16, 0x4e, 0xb9, 0xcb, 0xd0, 0x83, 0xe8, 0xa2, 0x50, 0x3c, 0x4e};
  const auto words = bits(key, address, 8, 8);
  EXPECT_EQ(std::memcmp(words.data(), expected, sizeof expected), 0);
}

TEST(Stream, EveryFieldOfTheAddressAndTheKeyChangesTheStream) {
  const Address base{.step = 1, .tensor = 1, .purpose = Purpose::gradient_noise, .lane = 1, .attempt = 1};
  std::vector<Address> addresses(6, base);
  addresses[1].step = 2;
  addresses[2].tensor = 2;
  addresses[3].purpose = Purpose::probe_noise;
  addresses[4].lane = 2;
  addresses[5].attempt = 2;
  std::set<std::uint64_t> seen;
  for (const auto& address : addresses) seen.insert(bits(kKey, address, 0, 1)[0]);
  seen.insert(bits(key_from_seed("another"), base, 0, 1)[0]);
  EXPECT_EQ(seen.size(), addresses.size() + 1);
}

TEST(Stream, FieldsAtTheirLimitsDoNotSpillIntoEachOther) {
  const std::vector<Address> addresses = {
      {.step = 0xffffffff}, {.tensor = 0xffff},  {.purpose = Purpose{0xff}},
      {.lane = 0xff},       {.attempt = 0xffff}, {.step = 0x01000000},
      {.tensor = 0x0100},   {.attempt = 0x0100}, {}};
  std::set<std::uint64_t> seen;
  for (const auto& address : addresses) seen.insert(bits(kKey, address, 0, 1)[0]);
  EXPECT_EQ(seen.size(), addresses.size());
}

TEST(Stream, AnySliceEqualsTheWhole) {
  const Address address{.step = 7, .tensor = 3, .purpose = Purpose::gradient_noise};
  constexpr std::size_t kWhole = 9001;
  const auto whole_bits = bits(kKey, address, 0, kWhole);
  const auto whole_normals = normals(address, 0, kWhole);
  std::vector<double> whole_uniforms(kWhole);
  fill_uniforms(kKey, address, 0, whole_uniforms);
  for (const std::size_t first : {0u, 1u, 2u, 7u, 8u, 9u, 63u, 2047u, 2048u, 2049u, 4095u, 6000u}) {
    for (const std::size_t count : {0u, 1u, 2u, 3u, 8u, 17u, 2047u, 2048u, 2049u, 3001u}) {
      const auto some_bits = bits(kKey, address, first, count);
      const auto some_normals = normals(address, first, count);
      std::vector<double> some_uniforms(count);
      fill_uniforms(kKey, address, first, some_uniforms);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(some_bits[i], whole_bits[first + i]) << first << "+" << i << " of " << count;
        ASSERT_EQ(some_normals[i], whole_normals[first + i]) << first << "+" << i << " of " << count;
        ASSERT_EQ(some_uniforms[i], whole_uniforms[first + i]) << first << "+" << i << " of " << count;
      }
    }
  }
}

TEST(Stream, TheEndOfAnAddressIsReachableAndNotPassable) {
  const auto last = bits(kKey, Address{}, kAddressLength - 9, 9);
  EXPECT_NE(last, bits(kKey, Address{}, 0, 9));
  EXPECT_EQ(bits(kKey, Address{}, kAddressLength - 1, 1)[0], last[8]);
  EXPECT_THROW(bits(kKey, Address{}, kAddressLength - 1, 2), std::logic_error);
  EXPECT_THROW(normals(Address{}, kAddressLength - 1, 2), std::logic_error);
  EXPECT_THROW(normals(Address{}, kAddressLength + 1, 1), std::logic_error);
  EXPECT_EQ(normals(Address{}, kAddressLength - 1, 1)[0], normals(Address{}, kAddressLength - 2, 2)[1]);
}

// The transform, written a second time from its formula.
TEST(Stream, NormalsAreBoxMullerOfTheWords) {
  const Address address{.step = 11, .purpose = Purpose::probe_noise};
  const auto words = bits(kKey, address, 0, 1000);
  const auto z = normals(address, 0, 1000);
  for (std::size_t i = 0; i < 1000; i += 2) {
    const long double u = (static_cast<long double>(words[i]) + 1.0L) / 0x1p64L;
    const long double v = static_cast<long double>(words[i + 1]) / 0x1p64L;
    const long double radius = std::sqrt(-2.0L * std::log(u));
    const long double angle = 2.0L * std::numbers::pi_v<long double> * v;
    EXPECT_NEAR(z[i], static_cast<double>(radius * std::cos(angle)), 1e-14 * static_cast<double>(1 + radius));
    EXPECT_NEAR(z[i + 1], static_cast<double>(radius * std::sin(angle)),
                1e-14 * static_cast<double>(1 + radius));
  }
}

TEST(Stream, AddNormalsRoundsOnce) {
  const Address address{.step = 5, .purpose = Purpose::gradient_noise};
  const auto z = normals(address, 3, 5000);
  std::vector<float> narrow(5000, 0.1f);
  std::vector<double> wide(5000, 0.1);
  add_normals(kKey, address, 3, 2.5, std::span<float>(narrow));
  add_normals(kKey, address, 3, 2.5, std::span<double>(wide));
  for (std::size_t i = 0; i < z.size(); ++i) {
    ASSERT_EQ(narrow[i], static_cast<float>(static_cast<double>(0.1f) + 2.5 * z[i]));
    ASSERT_EQ(wide[i], 0.1 + 2.5 * z[i]);
  }
}

TEST(Key, SeedsAreSeparatedAndStable) {
  EXPECT_TRUE(key_from_seed("7") == key_from_seed("7"));
  EXPECT_FALSE(key_from_seed("7") == key_from_seed("8"));
  EXPECT_FALSE(key_from_seed("") == Key{});
  // `openssl enc -chacha20` of zeros under the SHA-256 of "hyfreedp stream key, version 1", NUL,
  // "7". A change would alter every seeded result.
  EXPECT_EQ(bits(key_from_seed("7"), Address{}, 0, 1)[0], 13357996467228882854u);
}

TEST(Key, EntropyGivesADifferentKeyEachTime) {
  const auto one = key_from_entropy();
  const auto two = key_from_entropy();
  ASSERT_TRUE(one.has_value() && two.has_value());
  EXPECT_FALSE(*one == *two);
  EXPECT_FALSE(*one == Key{});
}

// Half a million keys: of 32 bits of entropy 32 pairs would be equal, and none with a chance below
// 1e-13; of 256 bits none is. Each byte takes each value: false failure below 1e-300.
TEST(Key, EntropyFillsTheWholeKey) {
  constexpr std::size_t kKeys = 1 << 19;
  constexpr std::size_t kLookedInto = 1 << 16;
  std::vector<std::array<unsigned char, 32>> keys;
  std::array<std::array<bool, 256>, 32> seen{};
  std::array<std::size_t, 32> equal_to_next{};
  while (keys.size() < kKeys) {
    const auto fresh = key_from_entropy();
    ASSERT_TRUE(fresh.has_value());
    const auto& key = keys.emplace_back(fresh->bytes);
    if (keys.size() > kLookedInto) continue;
    for (std::size_t i = 0; i < 32; ++i) {
      seen[i][key[i]] = true;
      for (std::size_t distance = 1; distance < 32; ++distance) {
        if (key[i] == key[(i + distance) % 32]) ++equal_to_next[distance];
      }
    }
  }
  for (std::size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(std::count(seen[i].begin(), seen[i].end(), true), 256) << "byte " << i;
  }
  // Two bytes of one key are equal once in 256: within 10 standard deviations.
  const double expected = 32.0 * kLookedInto / 256;
  for (std::size_t distance = 1; distance < 32; ++distance) {
    EXPECT_NEAR(static_cast<double>(equal_to_next[distance]), expected, 10 * std::sqrt(2 * expected))
        << "bytes that are " << distance << " apart";
  }
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end()) << "two keys are equal";
}

}  // namespace stream_test
}  // namespace hyfreedp::random
