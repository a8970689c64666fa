// Releases the mean gradient of a batch with noise, and makes the hash by which a replay shows that
// it released the same.
//
//   gradient = (clipped sum + sigma_g * sensitivity * z) / B,  z ~ N(0, I)
//
// z comes from the keyed stream at (step, purpose gradient_noise, attempt). B is the plan's public
// batch size, whatever number of samples was drawn. Non-private rows: no noise.
//
// On the CPU, all threads process the vector in blocks of kReleaseBlock elements: noise, division,
// digest, and the caller's next operation on the block, so that each block stays in the cache. The
// boundaries of blocks do not depend on the number of threads, and neither do the results.
//
// Common arguments:
//   plan      gives the noise multiplier, the sensitivity and B. Throws std::logic_error if it is
//             private and its noise is not positive and finite
//   key       the key of the attempt
//   step      from 0
//   attempt   from 0
//   then      what the caller does with the released vector, if it is not empty. On the CPU it is
//             called once for each block [begin, end) as soon as the block is final, from several
//             threads; on a GPU once for [0, d). It may overwrite its block: the digest is of the
//             vector as it was released
#pragma once

#include <span>
#include <string>
#include <torch/types.h>

#include "harness/random/stream.h"
#include "harness/trial/privacy_plan.h"
#include "optimizers/optimizer.h"

namespace hyfreedp::training {

inline constexpr std::int64_t kReleaseBlock = 16384;  // elements

// A digest of the bytes of a released gradient. On the CPU it is 16 bytes for each block (OpenSSL's
// Poly1305 under a fixed key), on a GPU 16 bytes in all (kernels::digest). It detects a replay that
// computed something else, and misses one with probability at most 2^-90. It is not meant to
// withstand an adversary.
struct GradientDigest {
  std::string bytes;
  bool operator==(const GradientDigest&) const = default;
};

// Releases a sum in the gradient's own type. `sum` [d], contiguous, is the clipped sum on entry and
// the released gradient on return. Returns its digest.
GradientDigest release_gradient(const trial::PrivacyPlan& plan, const random::Key& key, std::int64_t step,
                                std::int64_t attempt, torch::Tensor& sum,
                                const optimizers::PieceWork& then = {});

// Releases a float64 sum: noise and division are in float64, and the result is rounded once into
// `gradient` [d], to which `then` and the returned digest refer. The values of `wide_sum` [d]
// float64 are overwritten.
GradientDigest release_wide_sum(const trial::PrivacyPlan& plan, const random::Key& key, std::int64_t step,
                                std::int64_t attempt, torch::Tensor& wide_sum, torch::Tensor& gradient,
                                const optimizers::PieceWork& then = {});

// The hash of a step that the journal records: the first 16 hexadecimal digits of the SHA-256 of
// the gradient's digest and the released losses.
std::string release_hash(const GradientDigest& gradient, std::span<const double> losses);
std::string release_hash(const torch::Tensor& gradient, std::span<const double> losses);

}  // namespace hyfreedp::training
