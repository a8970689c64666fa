// The passes over the flat vector of parameters.
//
//   release     g = (clip * sum + scale * z) / divisor, written over the sum; the noise is never
//               stored
//   update      moments and direction of Adam, AdamW, SGD as optimizers/adam.h and optimizers/sgd.h
//               define them
//   subtract    w - x u
//   digest      a fingerprint of the bits
//
// Each thread of the first two computes eight elements, those of one block of the keystream. The
// code is compiled without contraction, so that every result equals the reference implementation's
// bit for bit.
#pragma once

#include <cmath>

#include "harness/kernels/keystream_body.h"
#include "harness/kernels/rules.h"

namespace hyfreedp::kernels {

struct Noise {
  Stream stream;
  std::uint64_t first;  // element of the address that belongs to the vector's first
  double clip;          // factor of the sum
  double scale;         // standard deviation of the noise; 0: no noise is drawn
  double divisor;       // B
};

template <class T>
struct Vectors {
  const T* gradient;  // released mean
  const T* weights;
  T* first;    // m, or SGD's buffer; null: no momentum
  T* second;   // v
  T* largest;  // v^; null without AMSGrad
  T* direction;
  std::int64_t size;
};

// Loads and stores eight elements, 16 bytes at a time.
template <class T>
HYFREEDP_DEVICE void copy_row(const T* from, T* to) {
#ifdef __CUDA_ARCH__
#pragma unroll
  for (unsigned i = 0; i < kWordsPerBlock * sizeof(T) / 16; ++i) {
    reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
  }
#else
  __builtin_memcpy(to, from, kWordsPerBlock * sizeof(T));
#endif
}

template <class T>
struct alignas(16) Row {
  T at[kWordsPerBlock];
};

// Does nothing if the vector is absent.
template <class T>
HYFREEDP_DEVICE void load_row(const T* vector, const Span8& span, Row<T>& row) {
  if (vector == nullptr) return;
  const T* from = vector + span.first;
  if (span.whole() && reinterpret_cast<std::uintptr_t>(from) % 16 == 0) return copy_row(from, row.at);
  for (unsigned k = 0; k < kWordsPerBlock; ++k) {
    if (span.holds(k)) row.at[k] = from[k];
  }
}

template <class T>
HYFREEDP_DEVICE void store_row(const Row<T>& row, const Span8& span, T* vector) {
  if (vector == nullptr) return;
  T* to = vector + span.first;
  if (span.whole() && reinterpret_cast<std::uintptr_t>(to) % 16 == 0) return copy_row(row.at, to);
  for (unsigned k = 0; k < kWordsPerBlock; ++k) {
    if (span.holds(k)) to[k] = row.at[k];
  }
}

template <class T>
HYFREEDP_DEVICE void release_row(const Noise& noise, const Span8& span, Row<T>& row) {
  double normals[kWordsPerBlock] = {};
  if (noise.scale != 0) stream_normals(noise.stream, span.block, normals);
  for (unsigned k = 0; k < kWordsPerBlock; ++k) {
    const auto sum = static_cast<double>(static_cast<T>(noise.clip) * row.at[k]);
    const auto noisy =
        noise.scale == 0 ? static_cast<T>(sum) : static_cast<T>(sum + noise.scale * normals[k]);
    row.at[k] = noisy / static_cast<T>(noise.divisor);
  }
}

template <class T>
HYFREEDP_DEVICE T adam_element(const AdamNumbers& with, T gradient, T weight, T& first, T& second,
                               T* largest) {
  const T g = with.coupled == 0 ? gradient : gradient + static_cast<T>(with.coupled) * weight;
  first = static_cast<T>(with.beta1) * first + static_cast<T>(with.rest1) * g;
  second = static_cast<T>(with.beta2) * second + static_cast<T>(with.rest2) * (g * g);
  T root = second;
  if (largest != nullptr) {
    root = *largest >= second ? *largest : second;  // a second that is NaN is kept
    *largest = root;
  }
  const T step = first * static_cast<T>(with.unbias1) /
                 (std::sqrt(root) * static_cast<T>(with.unbias2) + static_cast<T>(with.eps));
  return with.decoupled == 0 ? step : step + static_cast<T>(with.decoupled) * weight;
}

template <class T>
HYFREEDP_DEVICE T sgd_element(const SgdNumbers& with, T gradient, T weight, T* buffer) {
  const T g = with.decay == 0 ? gradient : gradient + static_cast<T>(with.decay) * weight;
  if (buffer == nullptr) return g;
  *buffer = with.first ? g : static_cast<T>(with.momentum) * *buffer + static_cast<T>(with.intake) * g;
  return with.nesterov ? g + static_cast<T>(with.momentum) * *buffer : *buffer;
}

template <class T>
HYFREEDP_DEVICE T stepped(T weight, T direction, double by) {
  return static_cast<T>(static_cast<double>(weight) - by * static_cast<double>(direction));
}

// `rule(k, gradient, weight)` returns the direction of element k of the row and updates its
// moments. Elements outside the span are computed from zeros like the others, and are not stored.
template <class T, class Rule>
HYFREEDP_DEVICE void update_row(const Vectors<T>& at, const Span8& span, Rule rule) {
  Row<T> gradient{}, weights{}, direction;
  load_row(at.gradient, span, gradient);
  load_row(at.weights, span, weights);
  for (unsigned k = 0; k < kWordsPerBlock; ++k) direction.at[k] = rule(k, gradient.at[k], weights.at[k]);
  store_row(direction, span, at.direction);
}

template <class Team, class T>
HYFREEDP_DEVICE void adam_body(const Team& team, const AdamNumbers& with, const Vectors<T>& at) {
  if (piece_of(team) >= pieces_of(0, at.size)) return;
  const auto span = span_of(piece_of(team), 0, at.size);
  Row<T> first{}, second{}, largest{};
  load_row(at.first, span, first);
  load_row(at.second, span, second);
  load_row(at.largest, span, largest);
  update_row(at, span, [&](unsigned k, T gradient, T weight) {
    return adam_element(with, gradient, weight, first.at[k], second.at[k],
                        at.largest == nullptr ? static_cast<T*>(nullptr) : &largest.at[k]);
  });
  store_row(first, span, at.first);
  store_row(second, span, at.second);
  store_row(largest, span, at.largest);
}

template <class Team, class T>
HYFREEDP_DEVICE void sgd_body(const Team& team, const SgdNumbers& with, const Vectors<T>& at) {
  if (piece_of(team) >= pieces_of(0, at.size)) return;
  const auto span = span_of(piece_of(team), 0, at.size);
  Row<T> buffer{};
  load_row(at.first, span, buffer);
  update_row(at, span, [&](unsigned k, T gradient, T weight) {
    return sgd_element(with, gradient, weight,
                       at.first == nullptr ? static_cast<T*>(nullptr) : &buffer.at[k]);
  });
  store_row(buffer, span, at.first);
}

// The released mean: g = (clip * sum + scale * z) / divisor.
template <class Team, class T>
HYFREEDP_DEVICE void release_body(const Team& team, const Noise& noise, T* gradient, std::int64_t size) {
  if (piece_of(team) >= pieces_of(noise.first, size)) return;
  const auto span = span_of(piece_of(team), noise.first, size);
  Row<T> row{};
  load_row(gradient, span, row);
  release_row(noise, span, row);
  store_row(row, span, gradient);
}

// out := w - x u, with product and difference in double, rounded once: the step, or the point of a
// probe. `out` may be `w`. partials[block] is the number of elements that are not finite.
template <class Team, class T>
HYFREEDP_DEVICE void subtract_body(const Team& team, const T* weights, const T* direction, double x,
                                   std::int64_t size, T* out, std::uint64_t* partials,
                                   std::uint64_t* shared) {
  const auto stride = static_cast<std::int64_t>(team.blocks * team.threads);
  std::uint64_t bad = 0;
  for (auto i = static_cast<std::int64_t>(piece_of(team)); i < size; i += stride) {
    const T value = stepped(weights[i], direction[i], x);
    out[i] = value;
    bad += value - value == 0 ? 0 : 1;
  }
  bad = block_sum(team, bad, shared);
  if (team.thread == 0) partials[team.block] = bad;
}

// A 128-bit fingerprint of 32-bit words that does not depend on how the words are distributed over
// threads: two sums modulo 2^64 of a mix of (word, index). It tells whether a replayed step gave
// the same bits; it does not resist an adversary.
HYFREEDP_DEVICE std::uint64_t mixed(
    std::uint64_t value) {  // the finaliser of splitmix64 (Steele et al. 2014)
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
  return value ^ (value >> 31);
}

template <class Team>
HYFREEDP_DEVICE void digest_body(const Team& team, const std::uint32_t* words, std::int64_t size,
                                 std::uint64_t* partials, std::uint64_t* shared) {
  const auto stride = static_cast<std::int64_t>(team.blocks * team.threads);
  std::uint64_t one = 0, other = 0;
  for (auto i = static_cast<std::int64_t>(piece_of(team)); i < size; i += stride) {
    const auto place = mixed(static_cast<std::uint64_t>(i) + 0x9e3779b97f4a7c15ull);
    const auto mark = mixed(place ^ words[i]);
    one += mark;
    other += mixed(mark + place);
  }
  one = block_sum(team, one, shared);
  other = block_sum(team, other, shared);
  if (team.thread == 0) {
    partials[2 * team.block] = one;
    partials[2 * team.block + 1] = other;
  }
}

}  // namespace hyfreedp::kernels
