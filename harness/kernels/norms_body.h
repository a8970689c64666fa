// Squared norms of single samples' gradients. Every sum has a fixed order; nothing is added
// atomically.
//
// A kernel writes partial sums [samples, parts], which add_partials_body (team.h) adds up. Parts:
//   rows        pieces of kRowPiece elements of a row
//   ghost       pairs of tiles (i, j) with i <= j
//   embedding   groups of kThreads columns
#pragma once

#include <cmath>

#include "harness/kernels/team.h"

namespace hyfreedp::kernels {

inline constexpr std::int64_t kRowPiece = 16384;

// partials[i, p] = sum of values[i, .]^2 over piece p, in double.
template <class Team, class T>
HYFREEDP_DEVICE void row_norms_body(const Team& team, const T* values, std::int64_t columns,
                                    std::int64_t parts, double* partials, double* shared) {
  const auto row = static_cast<std::int64_t>(team.block) / parts;
  const auto begin = static_cast<std::int64_t>(team.block) % parts * kRowPiece;
  const auto end = begin + kRowPiece < columns ? begin + kRowPiece : columns;
  double total = 0;
  for (std::int64_t i = begin + team.thread; i < end; i += team.threads) {
    const double value = widened(values[row * columns + i]);
    total += value * value;
  }
  total = block_sum(team, total, shared);
  if (team.thread == 0) partials[team.block] = total;
}

// The ghost norm sum_st <a_s, a_t> <b_s, b_t> of one sample (Li et al., arXiv:2110.05679), by tiles
// of positions: the [T, T] products stay in registers. Tiles below the diagonal equal those above,
// which are counted twice.
template <class T>
struct GhostNorm {
  const T* inputs;     // [B, positions, input_width]
  const T* gradients;  // [B, positions, gradient_width]
  std::int64_t positions, input_width, gradient_width;
  double* partials;  // [B, pairs]
};

HYFREEDP_DEVICE std::int64_t tile_pairs(std::int64_t positions, int tile) {
  const std::int64_t tiles = (positions + tile - 1) / tile;
  return tiles * (tiles + 1) / 2;
}

inline constexpr int kGhostSide = 16;   // the threads of a block form a square of 16 x 16
inline constexpr int kGhostDepth = 16;  // columns in shared memory at a time
// Number of columns that are added up in float before they are added in double. A single float sum
// over the 50,257 columns of a vocabulary would be off by 1e-5 where all products have one sign.
inline constexpr std::int64_t kGhostRun = 1024;

// Length of a tile's column in shared memory, padded so that its elements stay aligned for loads of
// 16 bytes.
template <int kTile>
inline constexpr int kGhostStride = kTile + 4;
// Size of the shared memory in elements of the accumulator's type.
template <int kTile>
inline constexpr int kGhostShared = 2 * kGhostDepth* kGhostStride<kTile>;

// Neighbouring elements in shared memory, loaded 16 bytes at a time.
template <class Sum, int kEach>
struct alignas(kEach * sizeof(Sum) < 16 ? kEach * sizeof(Sum) : 16) Neighbours {
  Sum at[kEach];
};

template <class Sum, int kEach>
HYFREEDP_DEVICE Neighbours<Sum, kEach> neighbours(const Sum* from) {
#ifdef __CUDA_ARCH__
  return *reinterpret_cast<const Neighbours<Sum, kEach>*>(from);
#else
  Neighbours<Sum, kEach> values;
  __builtin_memcpy(&values, from, sizeof values);
  return values;
#endif
}

// products[m][n] = <row s_m of tile `left`, row t_n of tile `right`>, s_m = y E + m, t_n = x E + n,
// E = tile / 16.
template <int kTile, class Team, class T, class Sum>
HYFREEDP_DEVICE void tile_products(const Team& team, const T* rows, std::int64_t positions,
                                   std::int64_t width, std::int64_t left, std::int64_t right, Sum* shared,
                                   Sum (&products)[kTile / kGhostSide][kTile / kGhostSide]) {
  constexpr int kEach = kTile / kGhostSide;
  constexpr int kStride = kGhostStride<kTile>;
  const int x = static_cast<int>(team.thread) % kGhostSide;
  const int y = static_cast<int>(team.thread) / kGhostSide;
  Sum* left_part = shared;
  Sum* right_part = shared + kGhostDepth * kStride;
  for (auto& line : products) {
    for (auto& product : line) product = 0;
  }
  for (std::int64_t begin = 0; begin < width; begin += kGhostRun) {
    const std::int64_t end = begin + kGhostRun < width ? begin + kGhostRun : width;
    Sum run[kEach][kEach] = {};
    for (std::int64_t column = begin; column < end; column += kGhostDepth) {
      team.sync();
      for (int e = static_cast<int>(team.thread); e < kTile * kGhostDepth;
           e += static_cast<int>(team.threads)) {
        const int row = e / kGhostDepth, depth = e % kGhostDepth;
        const bool inside = column + depth < end;
        const auto load = [&](std::int64_t tile) {
          const std::int64_t position = tile * kTile + row;
          return inside && position < positions
                     ? static_cast<Sum>(widened(rows[position * width + column + depth]))
                     : Sum(0);
        };
        left_part[depth * kStride + row] = load(left);
        right_part[depth * kStride + row] = load(right);
      }
      team.sync();
      for (int depth = 0; depth < kGhostDepth; ++depth) {
        const auto lefts = neighbours<Sum, kEach>(left_part + depth * kStride + kEach * y);
        const auto rights = neighbours<Sum, kEach>(right_part + depth * kStride + kEach * x);
        for (int m = 0; m < kEach; ++m) {
          for (int n = 0; n < kEach; ++n) run[m][n] = std::fma(lefts.at[m], rights.at[n], run[m][n]);
        }
      }
    }
    for (int m = 0; m < kEach; ++m) {
      for (int n = 0; n < kEach; ++n) products[m][n] += run[m][n];
    }
  }
}

// One block computes one pair of tiles: products in Sum, their products and the sum over positions
// in double.
template <int kTile, class Sum, class Team, class T>
HYFREEDP_DEVICE void ghost_norm_body(const Team& team, const GhostNorm<T>& at, Sum* shared,
                                     double* shared_sums) {
  constexpr int kEach = kTile / kGhostSide;
  const std::int64_t pairs = tile_pairs(at.positions, kTile);
  const auto sample = static_cast<std::int64_t>(team.block) / pairs;
  std::int64_t right = 0, left = static_cast<std::int64_t>(team.block) % pairs;
  for (; left > right; ++right) left -= right + 1;  // pair number = right (right + 1) / 2 + left
  Sum inputs[kEach][kEach], gradients[kEach][kEach];
  tile_products<kTile>(team, at.inputs + sample * at.positions * at.input_width, at.positions, at.input_width,
                       left, right, shared, inputs);
  tile_products<kTile>(team, at.gradients + sample * at.positions * at.gradient_width, at.positions,
                       at.gradient_width, left, right, shared, gradients);
  double total = 0;
  for (int m = 0; m < kEach; ++m) {
    for (int n = 0; n < kEach; ++n) {
      total += static_cast<double>(inputs[m][n]) * static_cast<double>(gradients[m][n]);
    }
  }
  total = block_sum(team, total, shared_sums);
  if (team.thread == 0) at.partials[team.block] = left == right ? total : 2 * total;
}

// Squared norm of an embedding lookup's gradient: rows of equal ids are added up before they are
// squared. Each thread computes one column. `ids` are sorted within the sample; `order` gives the
// original positions.
template <class T>
struct EmbeddingNorm {
  const std::int64_t* ids;    // [B, positions]
  const std::int64_t* order;  // [B, positions]
  const T* gradients;         // [B, positions, width]
  std::int64_t positions, width;
  std::int64_t padding;  // the id that gets no gradient; -1: none
  double* partials;      // [B, parts], parts = width / kThreads rounded up
};

template <class Team, class T>
HYFREEDP_DEVICE void embedding_norm_body(const Team& team, const EmbeddingNorm<T>& at, double* shared) {
  const std::int64_t parts = (at.width + team.threads - 1) / team.threads;
  const auto sample = static_cast<std::int64_t>(team.block) / parts;
  const auto column = static_cast<std::int64_t>(team.block) % parts * team.threads + team.thread;
  const std::int64_t start = sample * at.positions;
  double total = 0, row = 0;
  if (column < at.width) {
    for (std::int64_t k = 0; k < at.positions; ++k) {
      const std::int64_t id = at.ids[start + k];
      if (k > 0 && id != at.ids[start + k - 1]) {
        total += row * row;
        row = 0;
      }
      if (id != at.padding) row += widened(at.gradients[(start + at.order[start + k]) * at.width + column]);
    }
    total += row * row;
  }
  total = block_sum(team, total, shared);
  if (team.thread == 0) at.partials[team.block] = total;
}

}  // namespace hyfreedp::kernels
