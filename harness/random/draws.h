// Successive draws from one address of a keyed stream, for the few callers that need numbers one
// after another: the number of candidates of a private selection, a shuffled order, a noised score.
//
// Draw k depends on how many words the draws before it took (a rejection takes more than one), so
// unlike stream.h a reader cannot start in the middle. Every independent purpose must have an
// address of its own.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "harness/random/stream.h"

namespace hyfreedp::random {

class Draws {
 public:
  Draws(const Key& key, const Address& address) : key_(key), address_(address) {}

  std::uint64_t bits();
  // Uniform in [0, 1), a multiple of 2^-53.
  double uniform();
  // Uniform in {0, ..., n - 1} without bias; n >= 1. Rejects the words of the last, incomplete
  // cycle.
  std::uint64_t below(std::uint64_t n);
  double normal();
  // Laplace with density exp(-|x| / scale) / (2 scale). The largest |x| is 43.7 scale.
  double laplace(double scale);

 private:
  Key key_;
  Address address_;
  std::uint64_t next_ = 0;
  std::array<std::uint64_t, 64> buffer_{};
};

// A uniformly random order of 0 .. n-1 (Fisher and Yates, in Durstenfeld's form).
std::vector<std::int64_t> permutation(const Key& key, const Address& address, std::int64_t n);

}  // namespace hyfreedp::random
