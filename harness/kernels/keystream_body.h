// Words, uniforms, normals and Poisson coins of a stream, one thread a block of the keystream
// (eight elements).
//
// Element i of a vector is element first + i of the address (harness/random/stream.h). Compiled
// without contraction of products and sums, all of them are those of the CPU bit for bit, the
// normals too (harness/random/box_muller.h).
#pragma once

#include "harness/kernels/chacha.h"
#include "harness/random/box_muller.h"

namespace hyfreedp::kernels {

// The part of a vector that one block of the keystream covers: word k of the block belongs to
// element first + k of the vector, for begin <= k < end. Loops run over all eight words with
// constant bounds, so that no word is indexed by a variable.
struct Span8 {
  std::uint32_t block;  // of the stream
  std::int64_t first;   // may lie before the vector
  unsigned begin, end;

  HYFREEDP_DEVICE bool holds(unsigned k) const { return k >= begin && k < end; }
  HYFREEDP_DEVICE bool whole() const { return begin == 0 && end == kWordsPerBlock; }
};

// Piece `piece` of a vector of `size` elements that starts at element `first` of its address.
HYFREEDP_DEVICE Span8 span_of(std::uint64_t piece, std::uint64_t first, std::int64_t size) {
  const auto lead = static_cast<unsigned>(first % kWordsPerBlock);
  Span8 span{};
  span.block = static_cast<std::uint32_t>(first / kWordsPerBlock + piece);
  span.first = static_cast<std::int64_t>(piece * kWordsPerBlock) - lead;
  span.begin = piece == 0 ? lead : 0;
  const std::int64_t left = size - span.first;
  span.end = left < kWordsPerBlock ? static_cast<unsigned>(left) : kWordsPerBlock;
  return span;
}

// How many pieces the vector has.
HYFREEDP_DEVICE std::uint64_t pieces_of(std::uint64_t first, std::int64_t size) {
  return size == 0 ? 0
                   : (first % kWordsPerBlock + static_cast<std::uint64_t>(size) + kWordsPerBlock - 1) /
                         kWordsPerBlock;
}

template <class Team>
HYFREEDP_DEVICE std::uint64_t piece_of(const Team& team) {
  return team.block * team.threads + team.thread;
}

HYFREEDP_DEVICE double uniform_of(std::uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }

// The eight normals of one block of words.
HYFREEDP_DEVICE void normals_of(const std::uint64_t* words, double* normals) {
  for (unsigned k = 0; k < kWordsPerBlock; k += 2) {
    const auto pair = random::box_muller(words[k], words[k + 1]);
    normals[k] = pair.first;
    normals[k + 1] = pair.second;
  }
}

HYFREEDP_DEVICE void stream_normals(const Stream& stream, std::uint32_t block, double* normals) {
  std::uint64_t words[kWordsPerBlock];
  keystream_block(stream, block, words);
  normals_of(words, normals);
}

// Calls visit(element of the vector, word) for every element of the thread's piece.
template <class Team, class Visit>
HYFREEDP_DEVICE void for_words(const Team& team, const Stream& stream, std::uint64_t first, std::int64_t size,
                               Visit visit) {
  if (piece_of(team) >= pieces_of(first, size)) return;
  const auto span = span_of(piece_of(team), first, size);
  std::uint64_t words[kWordsPerBlock];
  keystream_block(stream, span.block, words);
  for (unsigned k = 0; k < kWordsPerBlock; ++k) {
    if (span.holds(k)) visit(span.first + k, words[k]);
  }
}

template <class Team>
HYFREEDP_DEVICE void words_body(const Team& team, const Stream& stream, std::uint64_t first,
                                std::int64_t size, std::uint64_t* out) {
  for_words(team, stream, first, size, [=](std::int64_t i, std::uint64_t word) { out[i] = word; });
}

template <class Team>
HYFREEDP_DEVICE void uniforms_body(const Team& team, const Stream& stream, std::uint64_t first,
                                   std::int64_t size, double* out) {
  for_words(team, stream, first, size,
            [=](std::int64_t i, std::uint64_t word) { out[i] = uniform_of(word); });
}

template <class Team>
HYFREEDP_DEVICE void normals_body(const Team& team, const Stream& stream, std::uint64_t first,
                                  std::int64_t size, double* out) {
  if (piece_of(team) >= pieces_of(first, size)) return;
  const auto span = span_of(piece_of(team), first, size);
  double normals[kWordsPerBlock];
  stream_normals(stream, span.block, normals);
  for (unsigned k = 0; k < kWordsPerBlock; ++k) {
    if (span.holds(k)) out[span.first + k] = normals[k];
  }
}

// mask[i] = 1 where word i lies below the threshold.
template <class Team>
HYFREEDP_DEVICE void poisson_body(const Team& team, const Stream& stream, std::uint64_t threshold,
                                  std::int64_t size, std::uint8_t* mask) {
  for_words(team, stream, 0, size,
            [=](std::int64_t i, std::uint64_t word) { mask[i] = word < threshold ? 1 : 0; });
}

// destination[i] += scale * z[first + i]: product and sum in double, rounded once.
template <class Team, class T>
HYFREEDP_DEVICE void add_normals_body(const Team& team, const Stream& stream, std::uint64_t first,
                                      std::int64_t size, double scale, T* destination) {
  if (piece_of(team) >= pieces_of(first, size)) return;
  const auto span = span_of(piece_of(team), first, size);
  double normals[kWordsPerBlock];
  stream_normals(stream, span.block, normals);
  for (unsigned k = 0; k < kWordsPerBlock; ++k) {
    if (!span.holds(k)) continue;
    T& value = destination[span.first + k];
    value = static_cast<T>(static_cast<double>(value) + scale * normals[k]);
  }
}

}  // namespace hyfreedp::kernels
