// A private release of the training features' mean, taken off the features of every split before
// step 0: what Panda et al. (appendix A.1, after Sun et al. 2024) do before a linear probe.
//
//   mean = (sum_i x_i min(1, R (1 - r) / ||x_i||) + noise R z) / N,  z ~ N(0, I)
//
// over all N rows of private_train, N the plan's public population; the add/remove sensitivity of
// the sum is R. Norms and sum are double; r, below 1e-6 for a million rows, is what they leave to
// rounding, so that R bounds what is computed (harness/trial/sum_rounding.h). It reads the whole
// split whatever the sampler draws, so the plan prices it as one full batch
// (PrivacyPlan::feature_mean). z has the address (step 0, purpose gradient_noise, lane
// kFeatureMeanLane, attempt), which no gradient uses. Non-private plans: no noise. Splits are never
// clipped themselves: what is taken off is the same vector everywhere.
#pragma once

#include <torch/types.h>

#include "harness/random/stream.h"
#include "harness/trial/privacy_plan.h"

namespace hyfreedp::training {

inline constexpr std::uint8_t kFeatureMeanLane = 1;

// `features` [N, p] -> [p] float64 on the CPU.
torch::Tensor release_feature_mean(const trial::PrivacyPlan& plan, const random::Key& key,
                                   std::int64_t attempt, const torch::Tensor& features);

}  // namespace hyfreedp::training
