// HyFreeDP+ (ours): HyFreeDP's privatized parabola at a probe radius of its own, on a separate
// probe batch 2.5 times as large as the gradient's. The rate is half the mean of the fits
// (controller `hyfreedp-plus`). Unless the cell sets an average, the model is evaluated at an
// exponential average of its weights with decay 1 - 1 / (average_part T).
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline hyfreedp_plus();

}  // namespace hyfreedp::baselines
