// A clipping threshold that follows a quantile of the gradients' norms (Andrew, Thakkar, McMahan and Ramaswamy, "Differentially
// Private Learning with Adaptive Clipping", NeurIPS 2021, arXiv:1905.03871, Algorithm 1).
//
//   count      c_t = sum over the batch of (1[||g_i|| <= C_t] - 1/2); a sample that is not finite adds 0
//   fraction   b_t = (c_t + count_noise z / 2) / B + 1/2,  z ~ N(0, 1) from (step, purpose clip_count_noise, attempt)
//   threshold  C_{t+1} = C_t exp(-rate (b_t - quantile)), kept in [kLowestThreshold, kHighestThreshold]
//
// One sample moves c_t by 1/2 at most, whether it is added or removed: that is what the centring is for, and why B / 2, not
// half of the confidential realised size, is put back. With batches of other than B samples b_t is therefore off by
// (B - n) / (2 B), 0 on average. The count is a release on the gradient's own batch, priced with it (privacy_plan.h); b_t and
// every C_t are functions of releases, C_t of those before step t alone.
#pragma once

#include <torch/types.h>

#include "harness/random/stream.h"
#include "harness/trial/privacy_plan.h"

namespace hyfreedp::training {

inline constexpr double kLowestThreshold = 1e-9;
inline constexpr double kHighestThreshold = 1e9;

// c_t of `norms` [n].
double centred_clip_count(const torch::Tensor& norms, double threshold);
// b_t; `z` counts nothing in a non-private run, whose count_noise is 0.
double unclipped_fraction(const trial::AdaptiveThreshold& adaptive, double count, double batch_size,
                          double z);
double next_threshold(const trial::AdaptiveThreshold& adaptive, double threshold, double fraction);

// b_t of step `step` of a plan with adaptive clipping whose clipping_constant is C_t. A private plan has noise, always.
double release_clip_fraction(const trial::PrivacyPlan& plan, const random::Key& key, std::int64_t step,
                             std::int64_t attempt, const torch::Tensor& norms);

}  // namespace hyfreedp::training
