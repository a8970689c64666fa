// HyFreeDP+ (ours): HyFreeDP's privatized parabola with the probe radius decoupled from the learning rate, on
// a separate probe batch. The radius grows until the curvature stands out of its own (public) noise, so that
// a rate that starts too small can climb; see the controller `hyfreedp-plus`.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline hyfreedp_plus();

}  // namespace hyfreedp::baselines
