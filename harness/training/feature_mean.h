// Releases the mean of the training features with noise. It is subtracted from the features of
// every split before step 0, as in the linear probes of Panda et al. (appendix A.1, after Sun et
// al. 2024).
//
//   mean = (sum_i x_i min(1, R (1 - r) / ||x_i||) + noise R z) / N,  z ~ N(0, I)
//
//   i      over all rows of private_train; a row that is not finite adds nothing
//   N      the plan's public population
//   R      the norm to which each x_i is clipped; the add/remove sensitivity of the sum
//   noise  the noise multiplier of this release; non-private plans: no noise
//   r      the part of R that is reserved for rounding, so that R bounds the computed sum
//          (harness/trial/sum_rounding.h). Norms and sum are float64, so r is below 1e-6 for a
//          million rows
//   z      from the keyed stream at (step 0, purpose gradient_noise, lane kFeatureMeanLane,
//          attempt), which no gradient uses
//
// The release reads the whole split whatever the sampler draws, so the plan prices it as one full
// batch (PrivacyPlan::feature_mean). The features themselves are not clipped: the same vector is
// subtracted from all of them.
#pragma once

#include <torch/types.h>

#include "harness/random/stream.h"
#include "harness/trial/privacy_plan.h"

namespace hyfreedp::training {

inline constexpr std::uint8_t kFeatureMeanLane = 1;

// The released mean, [p] float64.
//   features  [N, p], on the CPU, of any floating type
// Throws std::logic_error if the plan has no feature mean, or is private without noise for it.
torch::Tensor release_feature_mean(const trial::PrivacyPlan& plan, const random::Key& key,
                                   std::int64_t attempt, const torch::Tensor& features);

}  // namespace hyfreedp::training
