#include "harness/training/clipping.h"

#include <algorithm>
#include <cmath>

#include "harness/base/result.h"
#include "harness/models/layers/samples.h"

namespace hyfreedp::training {
namespace {

using torch::Tensor;
using trial::ClippingRule;

// `shares` broadcasts over `norms`.
Tensor shared_factors(const RoundedClipping& rule, const Tensor& shares, const Tensor& norms) {
  const double kept = 1 - rule.rounding;
  switch (rule.rule) {
    case ClippingRule::auto_s:
      return at::minimum(shares / (norms + rule.constant), shares * kept / norms);
    case ClippingRule::auto_v:
      return shares * kept / norms.clamp_min(kSmallestNorm);
    case ClippingRule::abadi:
    case ClippingRule::adaptive: {
      if (std::isinf(rule.constant)) return torch::ones_like(norms);
      const auto thresholds = shares * (rule.constant * kept);
      return thresholds / at::maximum(norms, thresholds);
    }
    case ClippingRule::none:
      break;
  }
  HYFREEDP_CHECK(false, "a run without clipping has no factors");
  return {};
}

double factor(const RoundedClipping& rule, double norm) {
  const double kept = 1 - rule.rounding;
  if (rule.rule == ClippingRule::auto_s) return std::min(1 / (norm + rule.constant), kept / norm);
  if (rule.rule == ClippingRule::auto_v) return kept / std::max(norm, kSmallestNorm);
  // C / max(norm, C): exactly 1 up to the threshold, at a norm of 0 too.
  const double threshold = rule.constant * kept;
  return std::isinf(threshold) ? 1 : threshold / std::max(norm, threshold);
}

}  // namespace

torch::ScalarType sum_type(const trial::PrivacyPlan& plan, torch::ScalarType type) {
  return plan.has_wide_sums() ? torch::kFloat64 : type;
}

RoundedClipping rounded_clipping(const trial::PrivacyPlan& plan, torch::ScalarType type) {
  const bool wide = sum_type(plan, type) == torch::kFloat64;
  return {plan.clipping, plan.is_private ? models::norm_rounding(type) + plan.rounding_of_sums(wide) : 0};
}

Tensor clip_factors(const RoundedClipping& rule, const Tensor& squared_norms) {
  HYFREEDP_CHECK(rule.rule != ClippingRule::none, "a run without clipping has no factors");
  // [B] numbers of the CPU: one loop, since each of LibTorch's operations takes as long as all of
  // them.
  if (squared_norms.is_cpu() && squared_norms.scalar_type() == torch::kFloat64) {
    const auto squares = squared_norms.contiguous();
    auto factors = torch::empty_like(squares);
    std::transform(squares.const_data_ptr<double>(), squares.const_data_ptr<double>() + squares.numel(),
                   factors.mutable_data_ptr<double>(), [&rule](double square) {
                     return std::isfinite(square) ? factor(rule, std::sqrt(square)) : 0.0;
                   });
    return factors;
  }
  const auto finite = at::isfinite(squared_norms);
  const auto one = torch::ones({}, squared_norms.options());
  return shared_factors(rule, one, squared_norms.sqrt()).masked_fill_(finite.logical_not(), 0);
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

Tensor clip_factors_by_layer(const RoundedClipping& rule, const std::vector<double>& shares,
                             const Tensor& squared_norms) {
  const auto column = torch::tensor(shares, squared_norms.options()).unsqueeze(1);  // [L, 1]
  auto factors = shared_factors(rule, column, squared_norms.sqrt());
  const auto finite = at::isfinite(squared_norms).all(0, true);  // [1, B]
  return factors.masked_fill_(finite.logical_not(), 0);
}

}  // namespace hyfreedp::training
