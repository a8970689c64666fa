// The mean of the training features that a run releases before step 0. It is subtracted from the
// features of every split, as in the linear probes of Panda et al. (appendix A.1, after Sun et al.
// 2024).
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
//
// The release reads the whole split whatever the sampler draws (harness/mechanism/releases.h).
// The features themselves are not clipped: the same vector is subtracted from all of them.
#pragma once

#include <torch/types.h>

#include "harness/trial/privacy_plan.h"

namespace hyfreedp::training {

// The sum of the clipped features, [p] float64, without noise.
//   features  [N, p], on the CPU, of any floating type
// Throws std::logic_error if the plan has no feature mean.
torch::Tensor clipped_feature_sum(const trial::PrivacyPlan& plan, const torch::Tensor& features);

}  // namespace hyfreedp::training
