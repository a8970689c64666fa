// Squared norms of single samples' gradients. Every sum has a fixed order; nothing is added
// atomically.
//
// A kernel writes partial sums [samples, parts], which add_partials_body (team.h) adds up. Parts:
//   rows        pieces of kRowPiece elements of a row
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
