// Keyed, counter-based random streams: the one source of every random number that training uses.
//
// A stream is the ChaCha20 keystream (RFC 8439) under a run's 256-bit key. The place of a number in
// it is a function of what the number is for: element i of an address has the same value whichever
// elements were asked for before, in whatever pieces, by whichever thread or device. That makes
// resuming a run exact.
//
//   nonce (96 bits)   step 32 | tensor 16 | purpose 8 | lane 8 | attempt 16 | zero 16
//                     (little endian)
//   counter (32 bits) block of eight 64-bit words; word i of an address is word i mod 8 of block
//   i / 8
//   element i         bits, uniform, Poisson coin: word i; normal: words 2*(i/2) and 2*(i/2)+1,
//                     which make two normals
//
// An address holds 2^35 elements; asking beyond them throws std::logic_error. Bits, uniforms, coins
// and normals of one address are made of the same words, so each address is read by one function
// only. All functions but key_from_entropy() depend on their arguments alone, and all are
// thread-safe. Keys are never printed, logged or stored anywhere but in the key file
// (key_file.h).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp::random {

struct Key {
  std::array<unsigned char, 32> bytes{};
  bool operator==(const Key&) const = default;
};

// SHA-256 of a fixed prefix and `text`: equal texts give equal keys. Noise under such a key is
// reproducible and therefore not private.
Key key_from_seed(std::string_view text);
// From the operating system's entropy (getrandom).
Result<Key> key_from_entropy();

// Part of the stream's address: append, never renumber.
enum class Purpose : std::uint8_t {
  sampling = 0,        // which examples are in a gradient batch
  gradient_noise = 1,  // added to the clipped sum
  probe_sampling = 2,  // which examples are in a loss probe's own batch
  probe_noise = 3,     // added to the clipped sum of losses that steers a learning rate
  initialisation = 4,  // initial weights
  score_noise = 5,     // added to a validation score
  selection = 6,       // how many candidates, and which (private selection)
  split = 7,           // dividing data into parts
  synthetic_data = 8,  // generated datasets, and texts that are written (of a key of their own)
  shuffling = 9,       // order of examples in non-private runs
  validation_sampling = 10,
  clip_count_noise = 11,  // added to the count of samples below an adaptive clipping threshold
  augmentation = 12,      // random copies of images
  direction = 13,         // along which losses are compared, under a public key
};

struct Address {
  std::uint32_t step = 0;
  std::uint16_t tensor = 0;
  Purpose purpose = Purpose::sampling;
  std::uint8_t lane = 0;  // which probe, class, ... of one step
  // One more whenever a run begins again and may not repeat its earlier releases bit for bit: the
  // same noise is never added to two different sums.
  std::uint16_t attempt = 0;
};

inline constexpr std::uint64_t kAddressLength = std::uint64_t{1} << 35;

// Elements [first, first + out.size()) of the address.
void fill_bits(const Key& key, const Address& address, std::uint64_t first, std::span<std::uint64_t> out);
// Uniform in [0, 1), multiples of 2^-53.
void fill_uniforms(const Key& key, const Address& address, std::uint64_t first, std::span<double> out);
// Standard normals by Box and Muller (Ann. Math. Stat. 29, 1958) in double precision: elements 2k
// and 2k + 1 are sqrt(-2 ln u) (cos, sin)(2 pi v), with u = (word[2k] + 1) 2^-64 and v the uniform
// of word[2k + 1]. The tails reach |z| = 9.42; what lies beyond has a probability of 5e-21. With a
// 24-bit u they would stop at 5.8, which no delta of practice could ignore. The bits are the same
// on every processor (box_muller.h).
void fill_normals(const Key& key, const Address& address, std::uint64_t first, std::span<double> out);
// destination[i] += scale * z[first + i], `scale` being the standard deviation: product and sum in
// double, rounded once to float.
void add_normals(const Key& key, const Address& address, std::uint64_t first, double scale,
                 std::span<float> destination);
// The same into doubles.
void add_normals(const Key& key, const Address& address, std::uint64_t first, double scale,
                 std::span<double> destination);

// Poisson sampling: the sorted indices in [0, population) that are included, each independently
// with probability `rate` in [0, 1], namely where word i < rate * 2^64. Where that threshold is not
// a whole number (rate < 2^-12) it is rounded down, so no example is included with a probability
// above `rate`. Rate 1 includes all, rate 0 none.
std::vector<std::int64_t> poisson_sample(const Key& key, const Address& address, std::int64_t population,
                                         double rate);

}  // namespace hyfreedp::random
