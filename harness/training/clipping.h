// Factors that bound one sample's part in the summed gradient.
//   auto_s   c_i = 1 / (||g_i|| + constant)        sensitivity 1 (Bu et al., arXiv:2206.07136, AUTO-S)
//   abadi    c_i = min(1, C / ||g_i||), C constant  sensitivity C (Abadi et al., arXiv:1607.00133); 1 where the norm is 0
//   none     no factors (non-private rows)
// A sample whose squared norm is NaN or infinite gets factor 0: its gradient counts as 0.
#pragma once

#include <torch/types.h>

#include "harness/trial/privacy_plan.h"

namespace hyfreedp::training {

// `squared_norms` [B] float64 -> factors [B] float64.
torch::Tensor clip_factors(trial::Clipping clipping, double constant, const torch::Tensor& squared_norms);

}  // namespace hyfreedp::training
