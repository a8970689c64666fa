// The transform of Box and Muller (Ann. Math. Stat. 29, 1958) from two keystream words to two
// standard normals:
//   z = sqrt(-2 ln u) (cos, sin)(2 pi v), where
//   u = (word + 1) 2^-64 in (0, 1] and v = (word >> 11) 2^-53 in [0, 1)
//
// Every result is a fixed sequence of additions, products, one division and one square root in
// double, each rounded by IEEE 754, plus integer operations: no call of a mathematical library, no
// branch, no table. So the bits are the same on every processor, at any vector width and on a GPU,
// provided that products and sums are not contracted (-ffp-contract=off, nvcc: -fmad=false).
// Include it from device code as it is.
//
// Errors against the exact value, of the same words: logarithm 1 ulp, both coordinates of the turn
// 1.7 ulp, a normal 3.5 ulp. Polynomials interpolate at Chebyshev's nodes; truncation stays below
// 2^-55.5.
//   word 0               u = 2^-64, radius 9.42, the largest
//   word of all ones     u = 1, radius 0
//   v = 1/4, 1/2, 3/4    the vanishing coordinate is exactly 0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#ifdef __CUDACC__
#define HYFREEDP_ANYWHERE __host__ __device__ __forceinline__
#else
// Inlined into functions that are compiled for one instruction set each.
#define HYFREEDP_ANYWHERE [[gnu::always_inline]] inline
#endif

namespace hyfreedp::random {

HYFREEDP_ANYWHERE double double_of_bits(std::uint64_t bits) {
#ifdef __CUDA_ARCH__
  return __longlong_as_double(static_cast<long long>(bits));
#else
  return std::bit_cast<double>(bits);
#endif
}

HYFREEDP_ANYWHERE std::uint64_t bits_of_double(double value) {
#ifdef __CUDA_ARCH__
  return static_cast<std::uint64_t>(__double_as_longlong(value));
#else
  return std::bit_cast<std::uint64_t>(value);
#endif
}

// The word as a double, rounded to nearest. Its halves are put into the significands of 2^84 and
// 2^52, because not every vector unit converts 64-bit integers.
HYFREEDP_ANYWHERE double double_of_word(std::uint64_t word) {
  const double high = double_of_bits((word >> 32) | 0x4530000000000000U);
  const double low = double_of_bits((word & 0xffffffffU) | 0x4330000000000000U);
  return (high - 0x1.00000001p84) + low;
}

// Natural logarithm of u in [2^-64, 1].
//   u = 2^k m, m in [sqrt(1/2), sqrt(2)); f = m - 1, s = f / (2 + f), h = f^2 / 2;
//   ln m = f - h + s (h + R(s^2)),
// where R is the odd series of 2 artanh s beyond its first term, over s. Next to u = 1 k is 0, so
// nothing cancels.
HYFREEDP_ANYWHERE double log_of_unit(double u) {
  constexpr std::uint64_t kRootHalf = 0x3fe6a09e00000000U;  // bits of sqrt(1/2), cut
  constexpr std::uint64_t kBias = 64;                       // keeps k + kBias positive
  const std::uint64_t shifted = bits_of_double(u) - kRootHalf + (kBias << 52);
  const std::uint64_t exponent = shifted >> 52;  // k + kBias
  const double m = double_of_bits((shifted & 0x000fffffffffffffU) + kRootHalf);
  const double k = double_of_bits(exponent | 0x4330000000000000U) - (0x1p52 + static_cast<double>(kBias));

  const double f = m - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  double r = 0x1.2b5900de53b32p-3;
  r = r * z + 0x1.39fe51a7c18f9p-3;
  r = r * z + 0x1.7462b51cb66b1p-3;
  r = r * z + 0x1.c71c62e3f11e6p-3;
  r = r * z + 0x1.2492492df281ap-2;
  r = r * z + 0x1.99999999952d7p-2;
  r = r * z + 0x1.5555555555558p-1;
  r = r * z;
  const double h = 0.5 * f * f;
  // ln 2 in two parts; k times the first is exact.
  return k * 0x1.62e42feep-1 - ((h - (s * (h + r) + k * 0x1.a39ef35793c76p-33)) - f);
}

struct Turn {
  double cosine;
  double sine;
};

// (cos, sin)(2 pi v), v = (word >> 11) 2^-53. v = q/4 + r with r in
// [-1/8, 1/8), exactly; q turns by right angles.
HYFREEDP_ANYWHERE Turn turn_of_word(std::uint64_t word) {
  const std::uint64_t whole = word >> 11;
  const std::uint64_t quarters = (whole + (std::uint64_t{1} << 50)) >> 51;  // 0 to 4
  const std::uint64_t rest = whole - (quarters << 51);                      // negative ones wrap
  const double r = (double_of_bits(rest + 0x4338000000000000U) - 0x1.8p52) * 0x1p-53;

  const double z = r * r;
  double sine = 0x1.e4a9d9166f052p+1;
  sine = sine * z - 0x1.e3027dea82bd7p+3;
  sine = sine * z + 0x1.50783208843ebp+5;
  sine = sine * z - 0x1.32d2cce500387p+6;
  sine = sine * z + 0x1.466bc6775a476p+6;
  sine = sine * z - 0x1.4abbce625be52p+5;
  sine = r * 0x1.921fb54442d18p+2 + r * (sine * z + 0x1.1a62633145c07p-52);
  double cosine = -0x1.b2f3eb054afcdp+0;
  cosine = cosine * z + 0x1.f9ce245cada0bp+2;
  cosine = cosine * z - 0x1.a6d1eef479be1p+4;
  cosine = cosine * z + 0x1.e1f5068688d5bp+5;
  cosine = cosine * z - 0x1.55d3c7e3cb241p+6;
  cosine = cosine * z + 0x1.03c1f081b5ac0p+6;
  cosine = cosine * z - 0x1.3bd3cc9be45dep+4;
  cosine = 1.0 + cosine * z;

  const std::uint64_t swap = 0 - (quarters & 1);  // all ones at odd quarters
  const std::uint64_t c = bits_of_double(cosine);
  const std::uint64_t s = bits_of_double(sine);
  const std::uint64_t differing = (c ^ s) & swap;
  const std::uint64_t cosine_sign = ((quarters + 1) & 2) << 62;
  const std::uint64_t sine_sign = (quarters & 2) << 62;
  return {double_of_bits(c ^ differing ^ cosine_sign), double_of_bits(s ^ differing ^ sine_sign)};
}

struct NormalPair {
  double first;
  double second;
};

HYFREEDP_ANYWHERE NormalPair box_muller(std::uint64_t radius_word, std::uint64_t angle_word) {
  const double u = (double_of_word(radius_word) + 1.0) * 0x1p-64;
  const double radius = std::sqrt(-2.0 * log_of_unit(u));
  const Turn turn = turn_of_word(angle_word);
  return {radius * turn.cosine, radius * turn.sine};
}

}  // namespace hyfreedp::random

#undef HYFREEDP_ANYWHERE
