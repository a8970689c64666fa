// The body of patch_kernel.h's kernels, for vectors of kBytes bytes; included by one file for each
// instruction set.
#pragma once

#include "harness/models/products/patch_kernel.h"

namespace hyfreedp::models {
namespace {

template <class T, int kBytes>
struct Vectors {
  static constexpr int kLanes = kBytes / static_cast<int>(sizeof(T));
  using Vec [[gnu::vector_size(kBytes)]] = T;
  // In memory, wherever it stands.
  struct [[gnu::packed, gnu::may_alias]] Stored {
    Vec value;
  };
  static Vec load(const T* from) { return reinterpret_cast<const Stored*>(from)->value; }
  static void store(Vec value, T* to) { reinterpret_cast<Stored*>(to)->value = value; }
};

// The number of rows of taps that fit into the registers beside V vectors of b.
constexpr int tile_rows(int registers, int taps, int vectors) {
  const int rows = (registers == 32 ? 24 : 12) / (taps * vectors);
  const int most = registers == 32 && taps == 4 ? 4 : 8;
  return rows < 1 ? 1 : rows > most ? most : rows;
}

template <class T, int kBytes, int kRegisters>
class Kernel {
  using V = Vectors<T, kBytes>;
  using Vec = typename V::Vec;
  static constexpr int kLanes = V::kLanes;

 public:
  static constexpr int kTaps = kRegisters == 32 ? 4 : 2;

  static void pack(const T* gradients, std::int64_t outputs, std::int64_t places, T* packed) {
    const std::int64_t width = outputs > kLanes ? 2 * kLanes : kLanes;
    for (std::int64_t first = 0; first < outputs; first += kLanes) {
      T* to = packed + first / width * width * places + first % width;
      const auto rest = outputs - first;
      const int rows = rest < kLanes ? static_cast<int>(rest) : kLanes;
      std::int64_t place = 0;
      if (rows == kLanes) {
        for (; place + kLanes <= places; place += kLanes) {
          transpose(gradients + first * places + place, places, to + place * width, width);
        }
      }
      for (; place < places; ++place) {
        for (int k = 0; k < rows; ++k) to[place * width + k] = gradients[(first + k) * places + place];
        for (int k = rows; k < kLanes; ++k) to[place * width + k] = 0;
      }
    }
    // The second half of a last block without outputs.
    const auto blocks = (outputs + width - 1) / width;
    if (outputs <= blocks * width - kLanes) {
      T* to = packed + (blocks - 1) * width * places + kLanes;
      for (std::int64_t place = 0; place < places; ++place) V::store(Vec{}, to + place * width);
    }
  }

  static double run(const PatchTask<T>& task, T* out, std::int64_t out_stride) {
    double sums[kLanes] = {};
    if (task.outputs > kLanes) {
      blocks<2>(task, out, out_stride, sums);
    } else {
      blocks<1>(task, out, out_stride, sums);
    }
    double total = 0;
    for (const double sum : sums) total += sum;
    return total;
  }

 private:
  // kLanes x kLanes, as log2(kLanes) perfect shuffles of the rows.
  static void transpose(const T* from, std::int64_t from_stride, T* to, std::int64_t to_stride) {
    Vec a[kLanes], b[kLanes];
#pragma GCC unroll 16
    for (int k = 0; k < kLanes; ++k) a[k] = V::load(from + k * from_stride);
#pragma GCC unroll 4
    for (int step = 1; step < kLanes; step *= 2) {
#pragma GCC unroll 16
      for (int k = 0; k < kLanes / 2; ++k) {
        b[2 * k] = interleave<0>(a[k], a[k + kLanes / 2]);
        b[2 * k + 1] = interleave<kLanes / 2>(a[k], a[k + kLanes / 2]);
      }
#pragma GCC unroll 16
      for (int k = 0; k < kLanes; ++k) a[k] = b[k];
    }
#pragma GCC unroll 16
    for (int k = 0; k < kLanes; ++k) V::store(a[k], to + k * to_stride);
  }

  // x[kFrom], y[kFrom], x[kFrom + 1], y[kFrom + 1], ...
  template <int kFrom>
  static Vec interleave(Vec x, Vec y) {
    if constexpr (kLanes == 2) {
      return __builtin_shufflevector(x, y, kFrom, 2 + kFrom);
    } else if constexpr (kLanes == 4) {
      return __builtin_shufflevector(x, y, kFrom, 4 + kFrom, kFrom + 1, 5 + kFrom);
    } else if constexpr (kLanes == 8) {
      return __builtin_shufflevector(x, y, kFrom, 8 + kFrom, kFrom + 1, 9 + kFrom, kFrom + 2, 10 + kFrom,
                                     kFrom + 3, 11 + kFrom);
    } else {
      return __builtin_shufflevector(x, y, kFrom, 16 + kFrom, kFrom + 1, 17 + kFrom, kFrom + 2, 18 + kFrom,
                                     kFrom + 3, 19 + kFrom, kFrom + 4, 20 + kFrom, kFrom + 5, 21 + kFrom,
                                     kFrom + 6, 22 + kFrom, kFrom + 7, 23 + kFrom);
    }
  }

  template <int kVectors>
  static void blocks(const PatchTask<T>& task, T* out, std::int64_t out_stride, double* sums) {
    constexpr std::int64_t kWidth = kVectors * kLanes;
    for (std::int64_t first = 0; first < task.outputs; first += kWidth) {
      T* to = out == nullptr ? nullptr : out + first;
      if constexpr (kTaps == 4) {
        tiles<4, kVectors>(task, first, to, out_stride, sums);
        tiles<3, kVectors>(task, first, to, out_stride, sums);
      }
      tiles<2, kVectors>(task, first, to, out_stride, sums);
      tiles<1, kVectors>(task, first, to, out_stride, sums);
    }
  }

  template <int kRowTaps, int kVectors>
  static void tiles(const PatchTask<T>& task, std::int64_t first, T* out, std::int64_t out_stride,
                    double* sums) {
    constexpr int kRows = tile_rows(kRegisters, kRowTaps, kVectors);
    const auto count = task.row_counts[kRowTaps];
    const auto left = task.outputs - first;
    for (std::int64_t row = 0; row < count; row += kRows) {
      Vec tile[kRows][kRowTaps][kVectors];
      // Beyond the last row its offset stands in; what comes of it is left out.
      std::int64_t offsets[kRows];
      for (int r = 0; r < kRows; ++r)
        offsets[r] = task.rows[kRowTaps][row + r < count ? row + r : count - 1].offset;
      add_up<kRows, kRowTaps, kVectors>(task, first, offsets, tile);
      const int used = count - row < kRows ? static_cast<int>(count - row) : kRows;
      Vec squares{};
      for (int r = 0; r < used; ++r) {
        for (int t = 0; t < kRowTaps; ++t) {
          for (int v = 0; v < kVectors; ++v) squares += tile[r][t][v] * tile[r][t][v];
        }
      }
      for (int k = 0; k < kLanes; ++k) sums[k] += static_cast<double>(squares[k]);
      if (out == nullptr) continue;
      for (int r = 0; r < used; ++r) {
        for (int t = 0; t < kRowTaps; ++t) {
          write<kVectors>(tile[r][t], left, out + (task.rows[kRowTaps][row + r].first + t) * out_stride);
        }
      }
    }
  }

  template <int kVectors>
  static void write(const Vec* values, std::int64_t left, T* out) {
    if (left >= kVectors * kLanes) {
      for (int v = 0; v < kVectors; ++v) V::store(values[v], out + v * kLanes);
      return;
    }
    for (std::int64_t k = 0; k < left; ++k) out[k] = values[k / kLanes][k % kLanes];
  }

  template <int kRows, int kRowTaps, int kVectors>
  [[gnu::noinline]] static void add_up(const PatchTask<T>& task, std::int64_t first,
                                       const std::int64_t* offsets, Vec (&tile)[kRows][kRowTaps][kVectors]) {
    Vec sums[kRows][kRowTaps][kVectors];
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int t = 0; t < kRowTaps; ++t) {
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) sums[r][t][v] = Vec{};
      }
    }
    for (std::int64_t s = 0; s < task.source_count; ++s) {
      const T* b = task.sources[s].gradients + first * task.lines * task.columns;
      for (std::int64_t y = 0; y < task.lines; ++y) {
        const T* line = task.sources[s].image + y * task.line_step;
        const T* at[kRows];
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r) at[r] = line + offsets[r];
        for (std::int64_t x = 0; x < task.columns; ++x, b += kVectors * kLanes) {
          Vec gradient[kVectors];
#pragma GCC unroll 2
          for (int v = 0; v < kVectors; ++v) gradient[v] = V::load(b + v * kLanes);
#pragma GCC unroll 16
          for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
            for (int t = 0; t < kRowTaps; ++t) {
#pragma GCC unroll 2
              for (int v = 0; v < kVectors; ++v) sums[r][t][v] += at[r][t] * gradient[v];
            }
            at[r] += task.column_step;
          }
        }
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int t = 0; t < kRowTaps; ++t) {
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) tile[r][t][v] = sums[r][t][v];
      }
    }
  }
};

template <class T, int kBytes, int kRegisters>
constexpr PatchKernel<T> kernel_of(const char* name) {
  using K = Kernel<T, kBytes, kRegisters>;
  return {name, K::kTaps, kBytes / static_cast<int>(sizeof(T)), K::pack, K::run};
}

}  // namespace
}  // namespace hyfreedp::models
