// The fused pass that releases a vector: noise, division by the public divisor, digest, and the
// caller's next operation, block by block, so that each block stays in the cache.
//
//   out = (sum + scale * z) / divisor,  z ~ N(0, I) from the keyed stream at `address`
//
// On the CPU, all threads process the vector in blocks of kReleaseBlock elements. The boundaries of
// blocks do not depend on the number of threads, and neither do the results. Only the mechanism
// calls it (mechanism.h), and tests do.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <torch/types.h>

#include "harness/random/stream.h"

namespace hyfreedp::mechanism {

inline constexpr std::int64_t kReleaseBlock = 16384;  // elements

// The caller's operation on the released vector. On the CPU it is called once for each block
// [begin, end) as soon as the block is final, from several threads; on a GPU once for [0, d). It
// may overwrite its block: the digest is of the vector as it was released.
using PieceWork = std::function<void(std::int64_t begin, std::int64_t end)>;

struct VectorNoise {
  random::Key key;
  random::Address address;
  double scale = 0;  // standard deviation; 0: no noise
  double divisor = 1;
};

// A digest of the bytes of a released vector. On the CPU it is 16 bytes for each block (OpenSSL's
// Poly1305 under a fixed key), on a GPU 16 bytes in all (kernels::digest). It detects a replay that
// computed something else, and misses one with probability at most 2^-90. It is not meant to
// withstand an adversary.
struct VectorDigest {
  std::string bytes;
  bool operator==(const VectorDigest&) const = default;
};

// `sum` [d], contiguous, is overwritten. `out` [d] is `sum` itself, or, for a float64 sum, a vector
// of another type: noise and division are then in float64, and the result is rounded once.
VectorDigest release_vector(const VectorNoise& noise, torch::Tensor& sum, torch::Tensor& out,
                            const PieceWork& then = {});
// The digest of a vector as it is.
VectorDigest digest_of(const torch::Tensor& vector);

// The hash that the journal records: the first 16 hexadecimal digits of the SHA-256 of the digest
// and the released values.
std::string release_hash(const VectorDigest& vector, std::span<const double> values);

}  // namespace hyfreedp::mechanism
