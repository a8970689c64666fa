// A clipping threshold that follows a quantile of the gradients' norms
// (Andrew, Thakkar, McMahan and Ramaswamy, "Differentially Private Learning with Adaptive
// Clipping", NeurIPS 2021, arXiv:1905.03871, Algorithm 1).
//
//   count      c_t = sum over the batch of (1[||g_i|| <= C_t] - 1/2); a sample that is not finite
//              adds 0
//   fraction   b_t = (c_t + count_noise z / 2) / B + 1/2, where z ~ N(0, 1) is drawn from
//              (step, purpose clip_count_noise, attempt)
//   threshold  C_{t+1} = C_t exp(-rate (b_t - quantile)), kept in [kLowestThreshold,
//              kHighestThreshold]
//
// One sample changes c_t by at most 1/2, whether it is added or removed, because each term is
// centred; for the same reason B / 2 is added back, and not half of the realised batch size, which
// is confidential. If a batch has n samples and not B, b_t is off by (B - n) / (2 B), which is 0 on
// average. The count is a release on the gradient's own batch and is priced with it
// (privacy_plan.h). b_t and every C_t are functions of releases, C_t of those before step t.
#pragma once

#include <torch/types.h>

#include "harness/trial/privacy_plan.h"

namespace hyfreedp::training {

inline constexpr double kLowestThreshold = 1e-9;
inline constexpr double kHighestThreshold = 1e9;

// The count c_t of `norms` [n] before noise.
double centred_clip_count(const torch::Tensor& norms, double threshold);
// C_{t+1} from C_t and the released fraction b_t.
double next_threshold(const trial::AdaptiveThreshold& adaptive, double threshold, double fraction);

}  // namespace hyfreedp::training
