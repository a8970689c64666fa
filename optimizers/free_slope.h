// A learning rate that follows the slope of released gradients: no probe, no epsilon, no forward
// pass, and one first rate for every task.
//
// Let m_t be the released gradient of step t, u_t the optimizer's direction, and
// w_{t+1} = w_t - eta_t u_t. The next release gives
//   b = <m_{t+1}, u_t>,
// whose mean over batch and noise is the product of the mean clipped gradient at w_{t+1} with u_t,
// which is fixed by then: positive where the step was too short, negative where it went past the
// minimum of its line. The standard deviation of the noise in b is s = (sigma S / B) ||u_t||, which
// is public. Both are functions of releases.
//
// Layers are taken together in groups that have a rate each:
//   origin   with pretrained weights one group of what is pretrained and one of what is new; else
//            each layer
//   layers   each layer
//   all      one group
// For each group, at each step but the first:
//   Q <- (1 - beta) b^2 + beta Q                   (bias-corrected, as Adam's moments)
//   z  = b / sqrt(Q + s^2) within [-1, 1]
//   w  = max(0, Q - s^2) / Q                       (how much of Q is not noise)
//   z  = w z + (1 - w) z_new                       (groups that are not pretrained)
//   n  = the number of steps at which b had another sign than at the step before
//   eta <- eta exp(gain z / (1 + kesten n))
// z_new is the same of all groups that are not pretrained as one group. So a layer whose slope is
// within its noise goes with the others; pretrained weights never do, because what a much too large
// rate does to them is not undone. Division by 1 + kesten n (Kesten, Ann. Math. Statist. 1958) lets
// rates settle.
//
//   a slope is not finite            | nothing changes, counted as nonfinite_slope
//   Q + s^2 = 0, as of u = 0         | z = 0
//   s = 0 (a run without privacy)    | w = 1
//
// Decisions, of all parameters as one group: climbed (b > 0), fell (b <= 0), nonfinite_slope.
// Values worth plotting: `rate.GROUP` and `slope_over_noise.GROUP` where there are at most
// kShownGroups. learning_rate() is the rate of the largest group. Source: this project; without
// noise the slope is that of hypergradient descent (Baydin et al., ICLR 2018, arXiv:1703.04782).
#pragma once

#include <memory>

#include "optimizers/learning_rate.h"
#include "optimizers/options.h"

namespace hyfreedp::optimizers {

inline constexpr std::size_t kShownGroups = 8;

Result<std::unique_ptr<LearningRateController>> make_free_slope(const FreeSlopeOptions& options);

}  // namespace hyfreedp::optimizers
