// The streams against ChaCha20 written down a second time, at addresses and elements far apart:
// nothing repeats, at whatever distance, and nothing that consumes a stream in pieces takes the
// wrong piece.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <map>

#include "harness/random/box_muller.h"
#include "harness/random/draws.h"
#include "harness/random/partition.h"
#include "harness/random/stream.h"

namespace hyfreedp::random {
namespace reference_stream_test {

const Key kKey = key_from_seed("reference_stream_test");

// RFC 8439, section 2.3, with the fields of stream.h in its counter and nonce.
std::array<std::uint64_t, 8> reference_block(const Key& key, const Address& address, std::uint32_t block) {
  std::array<std::uint32_t, 16> start = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
  for (std::size_t i = 0; i < 8; ++i) {
    for (std::size_t byte = 0; byte < 4; ++byte) {
      start[4 + i] |= static_cast<std::uint32_t>(key.bytes[4 * i + byte]) << (8 * byte);
    }
  }
  start[12] = block;
  start[13] = address.step;
  start[14] = static_cast<std::uint32_t>(address.tensor) | static_cast<std::uint32_t>(address.purpose) << 16 |
              static_cast<std::uint32_t>(address.lane) << 24;
  start[15] = address.attempt;
  auto x = start;
  const auto quarter = [&x](std::size_t a, std::size_t b, std::size_t c, std::size_t d) {
    x[d] = std::rotl(x[d] ^ (x[a] += x[b]), 16);
    x[b] = std::rotl(x[b] ^ (x[c] += x[d]), 12);
    x[d] = std::rotl(x[d] ^ (x[a] += x[b]), 8);
    x[b] = std::rotl(x[b] ^ (x[c] += x[d]), 7);
  };
  for (int round = 0; round < 10; ++round) {
    for (std::size_t i = 0; i < 4; ++i) quarter(i, i + 4, i + 8, i + 12);
    for (std::size_t i = 0; i < 4; ++i) quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
  }
  std::array<std::uint64_t, 8> words{};
  for (std::size_t i = 0; i < 16; ++i) {
    words[i / 2] |= static_cast<std::uint64_t>(x[i] + start[i]) << (32 * (i % 2));
  }
  return words;
}

std::uint64_t reference_word(const Address& address, std::uint64_t element) {
  return reference_block(kKey, address, static_cast<std::uint32_t>(element / 8))[element % 8];
}

double reference_normal(const Address& address, std::uint64_t element) {
  const auto pair =
      box_muller(reference_word(address, element / 2 * 2), reference_word(address, element / 2 * 2 + 1));
  return element % 2 == 0 ? pair.first : pair.second;
}

// Around every power of two of an address, and in between.
std::vector<std::uint64_t> far_apart(std::uint64_t size) {
  std::vector<std::uint64_t> elements = {0, size - 1};
  for (std::uint64_t power = 1; power < size; power *= 2) {
    for (const auto element : {power - 1, power, power + 1, power + power / 3}) {
      if (element < size) elements.push_back(element);
    }
  }
  return elements;
}

// Every address with one bit set in one field, and the address of none.
std::vector<Address> addresses_of_single_bits() {
  std::vector<Address> all(1);
  for (int bit = 0; bit < 32; ++bit) all.push_back({.step = std::uint32_t{1} << bit});
  for (int bit = 0; bit < 16; ++bit) all.push_back({.tensor = static_cast<std::uint16_t>(1 << bit)});
  for (int bit = 0; bit < 8; ++bit) all.push_back({.purpose = static_cast<Purpose>(1 << bit)});
  for (int bit = 0; bit < 8; ++bit) all.push_back({.lane = static_cast<std::uint8_t>(1 << bit)});
  for (int bit = 0; bit < 16; ++bit) all.push_back({.attempt = static_cast<std::uint16_t>(1 << bit)});
  return all;
}

TEST(ReferenceStream, WordsOfEveryAddressAndAtEveryDistance) {
  for (const auto& address : addresses_of_single_bits()) {
    for (const auto element : far_apart(kAddressLength)) {
      std::uint64_t word = 0;
      fill_bits(kKey, address, element, {&word, 1});
      ASSERT_EQ(word, reference_word(address, element)) << element;
    }
  }
}

TEST(ReferenceStream, NoTwoAddressesAndNoTwoElementsShareAWord) {
  std::map<std::uint64_t, std::uint64_t> seen;
  std::size_t asked = 0;
  for (const auto& address : addresses_of_single_bits()) {
    auto elements = far_apart(kAddressLength);
    std::ranges::sort(elements);
    const auto [repeated, end] = std::ranges::unique(elements);
    elements.erase(repeated, end);
    for (const auto element : elements) {
      std::uint64_t word = 0;
      fill_bits(kKey, address, element, {&word, 1});
      seen.emplace(word, element);
      ++asked;
    }
  }
  EXPECT_EQ(seen.size(), asked);  // false failure below 1e-12 for a fresh key
}

constexpr std::uint64_t kLong = (std::uint64_t{1} << 21) + 5;
constexpr Address kLongAddress{.step = 3, .purpose = Purpose::gradient_noise};

// One call for two million elements.
TEST(ReferenceStream, ALongReadIsTheStreamItself) {
  std::vector<std::uint64_t> words(kLong);
  fill_bits(kKey, kLongAddress, 0, words);
  for (std::uint64_t element = 0; element < kLong; element += 8) {
    const auto block = reference_block(kKey, kLongAddress, static_cast<std::uint32_t>(element / 8));
    const auto count = std::min<std::uint64_t>(8, kLong - element);
    ASSERT_TRUE(std::equal(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(count),
                           words.begin() + static_cast<std::ptrdiff_t>(element)))
        << element;
  }
  std::vector<double> uniforms(kLong);
  fill_uniforms(kKey, kLongAddress, 0, uniforms);
  for (std::uint64_t i = 0; i < kLong; ++i) {
    ASSERT_EQ(uniforms[i], static_cast<double>(words[i] >> 11) * 0x1p-53) << i;
  }
}

TEST(ReferenceStream, LongNoiseIsTheStreamsNormals) {
  std::vector<double> normals(kLong), wide(kLong, 0.0);
  std::vector<float> narrow(kLong, 0.0F);
  fill_normals(kKey, kLongAddress, 0, normals);
  add_normals(kKey, kLongAddress, 0, 2.0, std::span<double>(wide));
  add_normals(kKey, kLongAddress, 0, 2.0, std::span<float>(narrow));
  for (std::uint64_t i = 0; i < kLong; ++i) {
    ASSERT_EQ(wide[i], 2 * normals[i]) << i;
    ASSERT_EQ(narrow[i], static_cast<float>(2 * normals[i])) << i;
  }
  for (const auto element : far_apart(kLong)) {
    EXPECT_EQ(normals[element], reference_normal(kLongAddress, element)) << element;
  }
  for (std::uint64_t element = 0; element < kLong; element += 4099) {
    ASSERT_EQ(normals[element], reference_normal(kLongAddress, element)) << element;
  }
}

TEST(ReferenceStream, NormalsFarIntoAnAddress) {
  for (const auto element : far_apart(kAddressLength)) {
    double z = 0;
    fill_normals(kKey, kLongAddress, element, {&z, 1});
    ASSERT_EQ(z, reference_normal(kLongAddress, element)) << element;
    float sum = 0;
    add_normals(kKey, kLongAddress, element, 3.0, std::span<float>(&sum, 1));
    ASSERT_EQ(sum, static_cast<float>(3.0 * z)) << element;
  }
}

// The coin of each of two million records is its own word.
TEST(ReferenceStream, CoinsAreEachRecordsOwn) {
  const Address address{.step = 9, .purpose = Purpose::sampling};
  constexpr double kRate = 0.25;
  const auto included = poisson_sample(kKey, address, static_cast<std::int64_t>(kLong), kRate);
  auto next = included.begin();
  for (std::uint64_t record = 0; record < kLong; record += 8) {
    const auto block = reference_block(kKey, address, static_cast<std::uint32_t>(record / 8));
    for (std::uint64_t i = 0; i < 8 && record + i < kLong; ++i) {
      const bool is_in = next != included.end() && *next == static_cast<std::int64_t>(record + i);
      if (is_in) ++next;
      ASSERT_EQ(is_in, block[i] < std::uint64_t{1} << 62) << record + i;
    }
  }
  EXPECT_EQ(next, included.end());
}

TEST(ReferenceStream, PartsOfTheDataHaveCoinsOfTheirOwn) {
  const auto tuning = part_indices({kTuningPart, 0.25, "a"}, static_cast<std::int64_t>(kLong));
  EXPECT_EQ(tuning, poisson_sample(key_from_seed("part of the data/a"), {.purpose = Purpose::split},
                                   static_cast<std::int64_t>(kLong), 0.25));
}

TEST(ReferenceStream, SuccessiveDrawsNeverGoBack) {
  const Address address{.step = 4, .purpose = Purpose::selection};
  Draws draws(kKey, address);
  std::vector<std::uint64_t> words(kLong);
  fill_bits(kKey, address, 0, words);
  for (std::uint64_t i = 0; i < kLong; ++i) ASSERT_EQ(draws.bits(), words[i]) << i;
}

}  // namespace reference_stream_test
}  // namespace hyfreedp::random
