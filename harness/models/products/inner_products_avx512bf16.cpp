#include <immintrin.h>

#include "harness/models/products/inner_products.h"

namespace hyfreedp::models {
namespace {

constexpr std::int64_t kSide = 4;      // vectors on each side of a tile
constexpr std::int64_t kNumbers = 32;  // numbers of a register
constexpr std::int64_t kAtOnce = 512;  // numbers that are added up in float32

__m512bh load(const std::uint16_t* from, __mmask32 mask) {
  return reinterpret_cast<__m512bh>(_mm512_maskz_loadu_epi16(mask, from));
}

using Floats [[gnu::vector_size(64)]] = float;

// Adds the second kLanes of each 2 kLanes lanes to the first, in x and then in y. Folded by 8, 4, 2
// and 1, 16 registers become the one register of their sums, in their order.
template <int kLanes>
Floats folded(Floats x, Floats y) {
  constexpr auto at = [](int i) { return i / kLanes * 2 * kLanes + i % kLanes; };
  const Floats first = __builtin_shufflevector(x, y, at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7),
                                               at(8), at(9), at(10), at(11), at(12), at(13), at(14), at(15));
  constexpr auto next = [=](int i) { return at(i) + kLanes; };
  const Floats second =
      __builtin_shufflevector(x, y, next(0), next(1), next(2), next(3), next(4), next(5), next(6), next(7),
                              next(8), next(9), next(10), next(11), next(12), next(13), next(14), next(15));
  return first + second;
}
// Of four registers, four lanes of each.
Floats quartered(const __m512* sums) {
  return folded<4>(folded<8>(sums[0], sums[1]), folded<8>(sums[2], sums[3]));
}

// to[i * kSide + j] += the inner product of left[i] and right[j] over `width` numbers from `first`.
void add_tile(const std::uint16_t* const* left, const std::uint16_t* const* right, std::int64_t first,
              std::int64_t width, double* to) {
  __m512 sums[kSide][kSide] = {};
  for (auto k = first; k < first + width; k += kNumbers) {
    const auto some = first + width - k;
    const auto mask = some < kNumbers ? (__mmask32{1} << some) - 1 : ~__mmask32{0};
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
  const auto totals = folded<1>(folded<2>(quartered(sums[0]), quartered(sums[1])),
                                folded<2>(quartered(sums[2]), quartered(sums[3])));
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
