#include "harness/training/adaptive_clipping.h"

#include <algorithm>
#include <cmath>

namespace hyfreedp::training {

double centred_clip_count(const torch::Tensor& norms, double threshold) {
  const auto finite = at::isfinite(norms).sum().item<std::int64_t>();
  // false for NaN and infinities
  const auto unclipped = (norms <= threshold).sum().item<std::int64_t>();
  return static_cast<double>(unclipped) - trial::kCountSensitivity * static_cast<double>(finite);
}

double next_threshold(const trial::AdaptiveThreshold& adaptive, double threshold, double fraction) {
  const double next = threshold * std::exp(-adaptive.rate * (fraction - adaptive.quantile));
  return std::clamp(next, kLowestThreshold, kHighestThreshold);
}

}  // namespace hyfreedp::training
