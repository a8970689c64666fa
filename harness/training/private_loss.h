// The sums of losses that a learning-rate probe releases (Liu and Bu, ICLR 2025, equation 7 with
// Algorithm 1):
//   L~ = (sum_i clamp(L_i, 0, R) + sigma_l R z) / B,  z ~ N(0, 1)
// R is the loss bound in nats, which is the sensitivity of the sum. Noise and division are the
// mechanism's (harness/mechanism/release/mechanism.h).
//   L_i < 0      0 (equation 7 read literally would give +R)
//   L_i = +inf   R
//   L_i = NaN    0
//   no samples   a sum of 0
#pragma once

#include <torch/types.h>

#include "harness/mechanism/release/mechanism.h"

namespace hyfreedp::training {

// The bounded sum of `losses` [n], of any floating type; `bound` is R >= 0.
mechanism::BoundedSum bounded_loss_sum(const torch::Tensor& losses, double bound);
// The sum of differences in a paired release (optimizers/learning_rate.h): sum_i clamp(L_i - L0_i,
// -D, D), where `bound` is D > 0. A difference that is NaN, also of two infinite losses, counts as
// 0.
mechanism::BoundedSum bounded_difference_sum(const torch::Tensor& losses, const torch::Tensor& losses_at_zero,
                                             double bound);
// The sum of how much losses change from `before` [n] to `after` [n]:
// sum_i clamp(after_i - before_i, -C, C), where `bound` is C > 0, or infinite for non-private rows.
// A change that is NaN, also of two infinite losses, counts as 0. With a finite C each change is
// rounded to a multiple of 2^-30 of C (1 - 2^-20), so that sums of up to 2^23 records are exact in
// any order, and what rounding does to the last product stays below C. Not covered: losses may
// differ in their last bits with the samples beside them in a microbatch, of all records behind one
// that is added or removed. For float32 losses near 1 that is some 1e-7 for each record of the
// batch; it is neither bounded nor measured.
mechanism::BoundedSum bounded_change_sum(const torch::Tensor& after, const torch::Tensor& before,
                                         double bound);
// The sum of the scores of records (trial::ScoreRelease), from their `losses` [n]:
//   sum_i 1 - clamp(L_i, 0, R) / R
// where `bound` is R > 0 and a loss that is NaN counts as R. Each score is rounded down to a
// multiple of 2^-20, so sums of up to 2^33 records are exact in any order.
double bounded_score_sum(const torch::Tensor& losses, double bound);
// For non-private rows: the plain sum, which nothing bounds.
mechanism::BoundedSum exact_loss_sum(const torch::Tensor& losses);

}  // namespace hyfreedp::training
