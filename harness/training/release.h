// What is released of a batch: the noisy mean gradient, and a hash by which a replay shows that it
// released the same.
//
//   gradient = (clipped sum + sigma_g * sensitivity * z) / B, where z ~ N(0, I) is drawn from
//   (step, purpose gradient_noise, attempt)
// The divisor B is the plan's public constant whatever was drawn. Non-private rows: no noise.
//
// On the CPU the vector is dealt with in blocks of kReleaseBlock elements, by all threads: noise,
// division, digest and what the caller does next with the block, all while it is in cache. Blocks
// lie where they lie for any number of threads, so the bits do not depend on it.
#pragma once

#include <span>
#include <string>
#include <torch/types.h>

#include "harness/random/stream.h"
#include "harness/trial/privacy_plan.h"
#include "optimizers/optimizer.h"

namespace hyfreedp::training {

inline constexpr std::int64_t kReleaseBlock = 16384;

// Of the released gradient's bytes: 16 of each block, Poly1305 under a fixed key (OpenSSL). It is
// to tell a replay that went another way (a chance of 2^-90 to miss one), not to withstand an
// adversary, who has the journal anyway.
struct GradientDigest {
  std::string bytes;
  bool operator==(const GradientDigest&) const = default;
};

// `sum` [d] is the clipped sum on entry and the released mean gradient on return. `then`, where
// given, is called once on each block [begin, end) as soon as that block is final, from several
// threads; it may overwrite the block. The digest is of the block as it was released.
GradientDigest release_gradient(const trial::PrivacyPlan& plan, const random::Key& key, std::int64_t step,
                                std::int64_t attempt, torch::Tensor& sum,
                                const optimizers::PieceWork& then = {});

// The same of a sum that is wider than the gradient: noise and divisor in float64, rounded once
// into `gradient` [d], whose digest it is. `wide_sum` [d] float64 is scratch afterwards; `then` is
// called on blocks of `gradient`.
GradientDigest release_wide_sum(const trial::PrivacyPlan& plan, const random::Key& key, std::int64_t step,
                                std::int64_t attempt, torch::Tensor& wide_sum, torch::Tensor& gradient,
                                const optimizers::PieceWork& then = {});

// First 16 hex digits of SHA-256 over the gradient's digest and the losses.
std::string release_hash(const GradientDigest& gradient, std::span<const double> losses);
std::string release_hash(const torch::Tensor& gradient, std::span<const double> losses);

}  // namespace hyfreedp::training
