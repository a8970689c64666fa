#include "harness/training/averaging.h"

#include <algorithm>

namespace hyfreedp::training {

void WeightAverage::reset() { average_ = torch::Tensor(); }

void WeightAverage::restore(const torch::Tensor& average) { average_ = average; }

void WeightAverage::observe(const torch::Tensor& weights, std::int64_t step) {
  if (kind_ == trial::Average::none || step < from_) return;
  if (!average_.defined()) {
    average_ = weights.clone();
    return;
  }
  const auto t = static_cast<double>(step - from_);
  const double kept = kind_ == trial::Average::ema ? std::min(decay_, (1 + t) / (10 + t)) : t / (t + 1);
  average_.lerp_(weights, 1 - kept);
}

}  // namespace hyfreedp::training
