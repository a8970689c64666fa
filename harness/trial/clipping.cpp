#include "harness/trial/clipping.h"

#include <cmath>
#include <limits>

namespace hyfreedp::trial {

double Clipping::sensitivity() const {
  switch (rule) {
    case ClippingRule::auto_s:
    case ClippingRule::auto_v:
      return 1.0;
    case ClippingRule::abadi:
    case ClippingRule::adaptive:
      return constant;
    case ClippingRule::none:
      break;
  }
  return std::numeric_limits<double>::infinity();
}

Result<void> Clipping::check() const {
  if (adaptive.has_value() != (rule == ClippingRule::adaptive)) {
    return error("clipping adaptive, and no other, has a quantile, a rate and a count");
  }
  if (has_constant() && !(constant > 0)) return error("the clipping constant must be positive");
  if (per_layer() && (rule == ClippingRule::none || adaptive)) {
    return error("per-layer is for clipping auto-s, auto-v and abadi");
  }
  if (shares != GroupShares::uniform && !per_layer()) return error("shares are for per-layer groups");
  if (!adaptive) return {};
  if (!(adaptive->quantile >= 0 && adaptive->quantile <= 1)) {
    return error("the quantile of adaptive clipping must lie in [0, 1]");
  }
  if (!(adaptive->rate > 0) || !std::isfinite(adaptive->rate)) {
    return error("the rate of adaptive clipping must be positive");
  }
  if (!std::isfinite(constant)) return error("adaptive clipping begins at a finite threshold");
  return {};
}

}  // namespace hyfreedp::trial
