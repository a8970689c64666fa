#include <immintrin.h>

#include "harness/models/products/inner_products.h"

namespace hyfreedp::models {
namespace {

constexpr std::int64_t kSide = 4;      // vectors on each side of a tile
constexpr std::int64_t kLanes = 32;    // numbers of a register
constexpr std::int64_t kAtOnce = 512;  // numbers that are added up in float32

__m512bh load(const std::uint16_t* from, __mmask32 mask) {
  return reinterpret_cast<__m512bh>(_mm512_maskz_loadu_epi16(mask, from));
}

using Floats [[gnu::vector_size(64)]] = float;

// Adds the second half of the lanes of each of two registers to the first (then of each half, and
// so on). After four of these the sums of 16 registers are in one, in their order.
Floats halves(Floats x, Floats y) {
  return __builtin_shufflevector(x, y, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
         __builtin_shufflevector(x, y, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
}
Floats quarters(Floats x, Floats y) {
  return __builtin_shufflevector(x, y, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
         __builtin_shufflevector(x, y, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
}
Floats pairs(Floats x, Floats y) {
  return __builtin_shufflevector(x, y, 0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29) +
         __builtin_shufflevector(x, y, 2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31);
}
Floats singles(Floats x, Floats y) {
  return __builtin_shufflevector(x, y, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30) +
         __builtin_shufflevector(x, y, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
}
// Of four registers, four lanes of each.
Floats quartered(const __m512* sums) { return quarters(halves(sums[0], sums[1]), halves(sums[2], sums[3])); }

// to[i * kSide + j] += the inner product of left[i] and right[j] over `width` numbers from `first`.
void add_tile(const std::uint16_t* const* left, const std::uint16_t* const* right, std::int64_t first,
              std::int64_t width, double* to) {
  __m512 sums[kSide][kSide] = {};
  for (auto k = first; k < first + width; k += kLanes) {
    const auto some = first + width - k;
    const auto mask = some < kLanes ? (__mmask32{1} << some) - 1 : ~__mmask32{0};
    __m512bh b[kSide];
#pragma GCC unroll 4
    for (int j = 0; j < kSide; ++j) b[j] = load(right[j] + k, mask);
#pragma GCC unroll 4
    for (int i = 0; i < kSide; ++i) {
      const auto a = load(left[i] + k, mask);
#pragma GCC unroll 4
      for (int j = 0; j < kSide; ++j) sums[i][j] = _mm512_dpbf16_ps(sums[i][j], a, b[j]);
    }
  }
  const auto totals =
      singles(pairs(quartered(sums[0]), quartered(sums[1])), pairs(quartered(sums[2]), quartered(sums[3])));
  for (int i = 0; i < kSide * kSide; ++i) to[i] += static_cast<double>(totals[i]);
}

// The tiles on and below the diagonal. The last tile repeats the last vector in place of those that
// are not there.
void inner_products(const std::uint16_t* vectors, std::int64_t count, std::int64_t width, float* products) {
  const auto fill = [=](std::int64_t first, const std::uint16_t** side) {
    for (std::int64_t i = 0; i < kSide; ++i) {
      const auto at = first + i < count ? first + i : count - 1;
      side[i] = vectors + at * width;
    }
  };
  for (std::int64_t top = 0; top < count; top += kSide) {
    const std::uint16_t* left[kSide];
    fill(top, left);
    for (std::int64_t from = 0; from <= top; from += kSide) {
      const std::uint16_t* right[kSide];
      fill(from, right);
      double totals[kSide * kSide] = {};
      for (std::int64_t k = 0; k < width; k += kAtOnce) {
        add_tile(left, right, k, width - k < kAtOnce ? width - k : kAtOnce, totals);
      }
      for (std::int64_t i = 0; i < kSide && top + i < count; ++i) {
        for (std::int64_t j = 0; j < kSide && from + j < count; ++j) {
          const auto total = static_cast<float>(totals[i * kSide + j]);
          products[(top + i) * count + from + j] = total;
          products[(from + j) * count + top + i] = total;
        }
      }
    }
  }
}

}  // namespace

extern const NarrowInnerProducts kNarrowInnerProducts_avx512bf16 = inner_products;

}  // namespace hyfreedp::models
