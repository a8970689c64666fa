// The private mean loss that a learning-rate probe sees (Liu and Bu, ICLR 2025, equation 7 with
// Algorithm 1):
//   L~ = (sum_i clamp(L_i, 0, R) + sigma_l R z) / B,  z ~ N(0, 1)
// R is the loss bound in nats, which is the sensitivity of the sum; B is the public divisor and not
// the realised batch size; sigma_l is the noise multiplier.
//   L_i < 0      0 (equation 7 read literally would give +R)
//   L_i = +inf   R
//   L_i = NaN    0
//   no samples   noise alone
#pragma once

#include <torch/types.h>

namespace hyfreedp::training {

struct LossRelease {
  double bound = 1;             // R, in nats
  double noise_multiplier = 0;  // sigma_l
  double divisor = 1;           // B
};

// The private mean of `losses` [n], of any floating type; `z` is a standard normal.
double private_mean_loss(const torch::Tensor& losses, const LossRelease& release, double z);
// The private mean of differences in a paired release (optimizers/learning_rate.h):
// (sum_i clamp(L_i - L0_i, -D, D) + sigma_l D z) / B, where D is the release's bound and the
// sensitivity of this sum. A difference that is NaN, also of two infinite losses, counts as 0.
double private_mean_difference(const torch::Tensor& losses, const torch::Tensor& losses_at_zero,
                               const LossRelease& release, double z);
// For non-private rows: the plain sum over the same divisor.
double exact_mean_loss(const torch::Tensor& losses, double divisor);
// Standard deviation of the noise in one private mean loss: sigma_l R / B.
double noise_sd(const LossRelease& release);

}  // namespace hyfreedp::training
