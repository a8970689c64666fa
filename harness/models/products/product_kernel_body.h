// The body of product_kernel.h's kernels, for vectors of kBytes bytes and tiles of at most kTall
// lines; included by one file for each instruction set.
#pragma once

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "harness/models/products/product_kernel.h"

namespace hyfreedp::models {
namespace {

template <class T, int kBytes, int kTall, int kAcross>
class ProductTiles {
  static constexpr int kLanes = kBytes / static_cast<int>(sizeof(T));
  static constexpr int kWide = kAcross * kLanes;
  using Vec [[gnu::vector_size(kBytes)]] = T;
  // In memory, wherever it stands.
  struct [[gnu::packed, gnu::may_alias]] Stored {
    Vec value;
  };
  static Vec load(const T* from) { return reinterpret_cast<const Stored*>(from)->value; }
  static void store(Vec value, T* to) { reinterpret_cast<Stored*>(to)->value = value; }

 public:
  static void fill(const T* left, std::int64_t left_stride, const T* right, std::int64_t right_stride,
                   std::int64_t rows, std::int64_t height, std::int64_t width, double* totals) {
    for (std::int64_t k = 0; k < height * kBlockWidth; ++k) totals[k] = 0;
    const auto tiles = (height + kTall - 1) / kTall;
    for (std::int64_t first = 0; first < rows; first += kRowsAtOnce) {
      const auto some = rows - first < kRowsAtOnce ? rows - first : kRowsAtOnce;
      const T* a = left + first * left_stride;
      for (std::int64_t j = 0; j < width; j += kWide) {
        const auto columns = width - j;
        const T* b = right + first * right_stride + j;
        auto stride = right_stride;
        T padded[kRowsAtOnce * kWide];
        if (columns < kWide && columns != kLanes) {
          pad(b, right_stride, some, columns, padded);
          b = padded;
          stride = kWide;
        }
        for (std::int64_t t = 0; t < tiles; ++t) {
          // All tiles have nearly the same height.
          const auto i = t * height / tiles, lines = (t + 1) * height / tiles - i;
          double* to = totals + i * kBlockWidth + j;
          if (kAcross == 1 || columns <= kLanes) {
            add_tile<kTall, 1>(lines, a + i, left_stride, b, stride, some, to);
          } else {
            add_tile<kTall, kAcross>(lines, a + i, left_stride, b, stride, some, to);
          }
        }
      }
    }
  }

 private:
  static void pad(const T* from, std::int64_t stride, std::int64_t rows, std::int64_t columns, T* to) {
    for (std::int64_t k = 0; k < rows; ++k, from += stride, to += kWide) {
      for (std::int64_t j = 0; j < columns; ++j) to[j] = from[j];
      for (std::int64_t j = columns; j < kWide; ++j) to[j] = 0;
    }
  }

  template <int kLines, int kVectors>
  static void add_tile(std::int64_t lines, const T* left, std::int64_t left_stride, const T* right,
                       std::int64_t right_stride, std::int64_t rows, double* totals) {
    if constexpr (kLines > 1) {
      if (lines < kLines) {
        add_tile<kLines - 1, kVectors>(lines, left, left_stride, right, right_stride, rows, totals);
        return;
      }
    }
    add<kLines, kVectors>(left, left_stride, right, right_stride, rows, totals);
  }

  template <int kLines, int kVectors>
  [[gnu::noinline]] static void add(const T* left, std::int64_t left_stride, const T* right,
                                    std::int64_t right_stride, std::int64_t rows, double* totals) {
    Vec sums[kLines][kVectors];
#pragma GCC unroll 32
    for (int i = 0; i < kLines; ++i) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sums[i][v] = Vec{};
    }
    for (std::int64_t k = 0; k < rows; ++k, left += left_stride, right += right_stride) {
      Vec b[kVectors];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) b[v] = load(right + v * kLanes);
#pragma GCC unroll 32
      for (int i = 0; i < kLines; ++i) {
        const Vec a = left[i] - Vec{};
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) sums[i][v] += a * b[v];
      }
    }
    // Through memory: a number is widened as it is loaded.
    T tile[kLines * kVectors * kLanes];
#pragma GCC unroll 32
    for (int i = 0; i < kLines; ++i) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) store(sums[i][v], tile + (i * kVectors + v) * kLanes);
    }
    for (int i = 0; i < kLines; ++i, totals += kBlockWidth) {
      for (int v = 0; v < kVectors; ++v) add_widened(tile + (i * kVectors + v) * kLanes, totals + v * kLanes);
    }
  }

  // to += from, for kLanes numbers.
  static void add_widened(const T* from, double* to) {
#ifdef __AVX512F__
    // The compiler would take a register apart, and Intel's cores have one port for that.
    if constexpr (sizeof(T) == sizeof(float)) {
      for (int k = 0; k < kLanes; k += 8) {
        const auto wide = _mm512_maskz_cvtps_pd(0xff, _mm256_loadu_ps(from + k));
        _mm512_storeu_pd(to + k, _mm512_add_pd(_mm512_loadu_pd(to + k), wide));
      }
      return;
    }
#endif
    for (int k = 0; k < kLanes; ++k) to[k] += static_cast<double>(from[k]);
  }
};

template <class T, int kBytes, int kTall, int kAcross>
constexpr ProductKernel<T> product_kernel_of(const char* name) {
  return {name, ProductTiles<T, kBytes, kTall, kAcross>::fill};
}

}  // namespace
}  // namespace hyfreedp::models
