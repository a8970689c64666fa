// The normals of a stream, one thread a block of the keystream (eight elements).
//
// Element i of a vector is element first + i of the address (harness/random/stream.h). Compiled
// without contraction of products and sums, they are those of the CPU bit for bit
// (harness/random/box_muller.h).
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

// The eight normals of one block of the stream.
HYFREEDP_DEVICE void stream_normals(const Stream& stream, std::uint32_t block, double* normals) {
  std::uint64_t words[kWordsPerBlock];
  keystream_block(stream, block, words);
  for (unsigned k = 0; k < kWordsPerBlock; k += 2) {
    const auto pair = random::box_muller(words[k], words[k + 1]);
    normals[k] = pair.first;
    normals[k + 1] = pair.second;
  }
}

}  // namespace hyfreedp::kernels
