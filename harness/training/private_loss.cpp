#include "harness/training/private_loss.h"

#include <limits>

#include "harness/base/result.h"
#include "harness/trial/test_seam.h"

namespace hyfreedp::training {

double private_mean_loss(const torch::Tensor& losses, const LossRelease& release, double z) {
  HYFREEDP_CHECK(release.bound >= 0, "a loss bound cannot be negative");
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double highest = planted(Bug::losses_not_clamped) ? kInfinity : release.bound;
  const auto clamped =
      at::nan_to_num(losses.to(torch::kFloat64), 0.0, kInfinity, -kInfinity).clamp_(0.0, highest);
  return (clamped.sum().item<double>() + release.noise_multiplier * release.bound * z) / release.divisor;
}

double private_mean_difference(const torch::Tensor& losses, const torch::Tensor& losses_at_zero,
                               const LossRelease& release, double z) {
  HYFREEDP_CHECK(release.bound > 0, "the bound of a difference is positive");
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto difference = losses.to(torch::kFloat64) - losses_at_zero.to(torch::kFloat64);
  const auto clamped =
      at::nan_to_num(difference, 0.0, kInfinity, -kInfinity).clamp_(-release.bound, release.bound);
  return (clamped.sum().item<double>() + release.noise_multiplier * release.bound * z) / release.divisor;
}

double exact_mean_loss(const torch::Tensor& losses, double divisor) {
  return losses.to(torch::kFloat64).sum().item<double>() / divisor;
}

double noise_sd(const LossRelease& release) {
  return release.noise_multiplier * release.bound / release.divisor;
}

}  // namespace hyfreedp::training
