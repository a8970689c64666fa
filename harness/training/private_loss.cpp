#include "harness/training/private_loss.h"

#include <cmath>
#include <limits>

namespace hyfreedp::training {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// NaN counts as 0.
double clamped_sum(const torch::Tensor& values, double lowest, double highest) {
  return at::nan_to_num(values, 0.0, kInfinity, -kInfinity).clamp_(lowest, highest).sum().item<double>();
}

}  // namespace

mechanism::BoundedSum bounded_loss_sum(const torch::Tensor& losses, double bound) {
  HYFREEDP_CHECK(bound >= 0, "a loss bound cannot be negative");
  return {.sum = clamped_sum(losses.to(torch::kFloat64), 0, bound), .sensitivity = bound};
}

mechanism::BoundedSum bounded_difference_sum(const torch::Tensor& losses, const torch::Tensor& losses_at_zero,
                                             double bound) {
  HYFREEDP_CHECK(bound > 0, "the bound of a difference is positive");
  const auto difference = losses.to(torch::kFloat64) - losses_at_zero.to(torch::kFloat64);
  return {.sum = clamped_sum(difference, -bound, bound), .sensitivity = bound, .from_first = true};
}

mechanism::BoundedSum bounded_change_sum(const torch::Tensor& after, const torch::Tensor& before,
                                         double bound) {
  HYFREEDP_CHECK(bound > 0, "the bound of a change is positive");
  const auto changes = after.to(torch::kFloat64) - before.to(torch::kFloat64);
  if (std::isinf(bound)) return {.sum = clamped_sum(changes, -bound, bound), .sensitivity = bound};
  constexpr double kGrid = 1 << 30;
  const double unit = bound * (1 - 0x1p-20) / kGrid;
  const auto units =
      at::nan_to_num(changes, 0.0, kInfinity, -kInfinity).div(unit).clamp_(-kGrid, kGrid).round_();
  return {.sum = units.sum().item<double>() * unit, .sensitivity = bound};
}

double bounded_score_sum(const torch::Tensor& losses, double bound) {
  HYFREEDP_CHECK(bound > 0, "the loss bound of a score is positive");
  constexpr double kGrid = 1 << 20;
  const auto clipped = at::nan_to_num(losses.to(torch::kFloat64), bound, bound, 0.0).clamp_(0, bound);
  return ((1 - clipped / bound) * kGrid).floor_().sum().item<double>() / kGrid;
}

mechanism::BoundedSum exact_loss_sum(const torch::Tensor& losses) {
  return {.sum = losses.to(torch::kFloat64).sum().item<double>(), .sensitivity = kInfinity};
}

}  // namespace hyfreedp::training
