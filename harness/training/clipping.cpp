#include "harness/training/clipping.h"

#include "harness/base/result.h"

namespace hyfreedp::training {

torch::Tensor clip_factors(trial::Clipping clipping, double constant, const torch::Tensor& squared_norms) {
  HYFREEDP_CHECK(clipping != trial::Clipping::none, "a run without clipping has no factors");
  const auto norms = squared_norms.sqrt();
  // max(norm, C) instead of norm: a norm of 0 gives 1 without a division by 0.
  auto factors = clipping == trial::Clipping::auto_s ? (norms + constant).reciprocal_()
                                                     : norms.clamp_min(constant).reciprocal_().mul_(constant);
  if (clipping == trial::Clipping::abadi && std::isinf(constant)) factors.fill_(1);
  return factors.masked_fill_(at::isfinite(squared_norms).logical_not_(), 0);
}

}  // namespace hyfreedp::training
