#include "harness/training/adaptive_clipping.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/base/result.h"
#include "harness/training/sampler.h"

namespace hyfreedp::training {

double centred_clip_count(const torch::Tensor& norms, double threshold) {
  const auto finite = at::isfinite(norms).sum().item<std::int64_t>();
  // false for NaN and infinities
  const auto unclipped = (norms <= threshold).sum().item<std::int64_t>();
  return static_cast<double>(unclipped) - trial::kCountSensitivity * static_cast<double>(finite);
}

double unclipped_fraction(const trial::AdaptiveThreshold& adaptive, double count, double batch_size,
                          double z) {
  return (count + adaptive.count_noise * trial::kCountSensitivity * z) / batch_size + 0.5;
}

double next_threshold(const trial::AdaptiveThreshold& adaptive, double threshold, double fraction) {
  const double next = threshold * std::exp(-adaptive.rate * (fraction - adaptive.quantile));
  return std::clamp(next, kLowestThreshold, kHighestThreshold);
}

double release_clip_fraction(const trial::PrivacyPlan& plan, const random::Key& key, std::int64_t step,
                             std::int64_t attempt, const torch::Tensor& norms) {
  HYFREEDP_CHECK(plan.adaptive.has_value(), "the plan counts no clipped samples");
  HYFREEDP_CHECK(!plan.is_private || plan.adaptive->count_noise > 0,
                 "a private count is released with noise");
  std::array<double, 1> z{0};
  if (plan.is_private) {
    random::fill_normals(key, address_of(random::Purpose::clip_count_noise, step, attempt), 0, z);
  }
  const double count = centred_clip_count(norms, plan.clipping_constant);
  return unclipped_fraction(*plan.adaptive, count, plan.batch_size, z[0]);
}

}  // namespace hyfreedp::training
