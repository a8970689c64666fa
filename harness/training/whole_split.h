// Sums over the whole training split, of releases that a run makes before step 0. Whatever the
// sampler draws, they read every row (harness/mechanism/releases.h).
//
// feature-mean: the mean of the training features. It is subtracted from the features of every
// split, as in the linear probes of Panda et al. (appendix A.1, after Sun et al. 2024).
//
//   mean = (sum_i x_i min(1, R (1 - r) / ||x_i||) + noise R z) / N,  z ~ N(0, I)
//
//   i      over all rows of private_train; a row that is not finite adds nothing
//   N      the public number of rows
//   R      the norm to which each x_i is clipped; the add/remove sensitivity of the sum
//   noise  the noise multiplier of this release; non-private plans: no noise
//   r      the part of R that is reserved for rounding, so that R bounds the computed sum
//          (harness/trial/sum_rounding.h). Norms and sum are float64, so r is below 1e-6 for a
//          million rows
//
// The features themselves are not clipped: the same vector is subtracted from all of them.
#pragma once

#include <string>
#include <torch/types.h>

#include "datasets/dataset.h"
#include "harness/trial/privacy_plan.h"

namespace hyfreedp::training {

// The sum of the release of that purpose over all rows of `train`, [p] float64, without noise. One
// row changes it by at most the release's sensitivity in L2 norm.
// The sum's length and its constants are those of the plan and of the public `sizes`. Throws
// std::logic_error if the plan does not ask for such a release.
torch::Tensor whole_split_sum(const std::string& purpose, const trial::PrivacyPlan& plan,
                              const datasets::Sizes& sizes, const datasets::SplitData& train);

}  // namespace hyfreedp::training
