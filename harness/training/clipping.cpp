#include "harness/training/clipping.h"

#include <algorithm>
#include <cmath>

#include "harness/base/result.h"

namespace hyfreedp::training {
namespace {

using torch::Tensor;
using trial::Clipping;

// `shares` broadcasts over `norms`.
Tensor shared_factors(const ClippingRule& rule, const Tensor& shares, const Tensor& norms) {
  switch (rule.clipping) {
    case Clipping::auto_s:
      return shares / (norms + rule.constant);
    case Clipping::auto_v:
      return shares / norms.clamp_min(kSmallestNorm);
    case Clipping::abadi:
    case Clipping::adaptive: {
      if (std::isinf(rule.constant)) return torch::ones_like(norms);
      const auto thresholds = shares * rule.constant;
      return thresholds / at::maximum(norms, thresholds);
    }
    case Clipping::none:
      break;
  }
  HYFREEDP_CHECK(false, "a run without clipping has no factors");
  return {};
}

double factor(Clipping clipping, double constant, double norm) {
  if (clipping == Clipping::auto_s) return 1 / (norm + constant);
  if (clipping == Clipping::auto_v) return 1 / std::max(norm, kSmallestNorm);
  // C / max(norm, C): exactly 1 up to the threshold, at a norm of 0 too.
  return std::isinf(constant) ? 1 : constant / std::max(norm, constant);
}

}  // namespace

ClippingRule clipping_rule(const trial::PrivacyPlan& plan) {
  return {plan.clipping, plan.clipping_constant, plan.groups, plan.shares};
}

Tensor clip_factors(Clipping clipping, double constant, const Tensor& squared_norms) {
  HYFREEDP_CHECK(clipping != Clipping::none, "a run without clipping has no factors");
  // [B] numbers of the CPU: one loop, since each of LibTorch's operations takes as long as all of them.
  if (squared_norms.is_cpu() && squared_norms.scalar_type() == torch::kFloat64) {
    const auto squares = squared_norms.contiguous();
    auto factors = torch::empty_like(squares);
    std::transform(squares.const_data_ptr<double>(), squares.const_data_ptr<double>() + squares.numel(),
                   factors.mutable_data_ptr<double>(), [=](double square) {
                     return std::isfinite(square) ? factor(clipping, constant, std::sqrt(square)) : 0.0;
                   });
    return factors;
  }
  const auto norms = squared_norms.sqrt();
  Tensor factors;
  if (clipping == Clipping::auto_s) {
    factors = (norms + constant).reciprocal_();
  } else if (clipping == Clipping::auto_v) {
    factors = norms.clamp_min(kSmallestNorm).reciprocal_();
  } else {
    factors = std::isinf(constant) ? torch::ones_like(norms)
                                   : torch::full_like(norms, constant).div_(norms.clamp_min(constant));
  }
  return factors.masked_fill_(at::isfinite(squared_norms).logical_not_(), 0);
}

std::vector<double> threshold_shares(trial::GroupShares shares,
                                     const std::vector<models::TrainableLayer>& layers) {
  double total = 0;
  for (const auto& layer : layers) total += static_cast<double>(layer.size);
  std::vector<double> found;
  for (const auto& layer : layers) {
    const double part = shares == trial::GroupShares::size ? static_cast<double>(layer.size) / total
                                                           : 1 / static_cast<double>(layers.size());
    found.push_back(std::sqrt(part));
  }
  return found;
}

Tensor clip_factors_by_layer(const ClippingRule& rule, const std::vector<double>& shares,
                             const Tensor& squared_norms) {
  const auto column = torch::tensor(shares, squared_norms.options()).unsqueeze(1);  // [L, 1]
  auto factors = shared_factors(rule, column, squared_norms.sqrt());
  const auto finite = at::isfinite(squared_norms).all(0, true);  // [1, B]
  return factors.masked_fill_(finite.logical_not(), 0);
}

}  // namespace hyfreedp::training
