// HyFreeDP+ (ours): HyFreeDP's privatized parabola at a probe radius of its own, on a separate probe batch 2.5 times the
// gradient's; the rate is half the mean of the fits (controller `hyfreedp-plus`), and the model is evaluated at an
// exponential average of its weights, decay 1 - 1 / (average_part T), where the cell has no average of its own.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline hyfreedp_plus();

}  // namespace hyfreedp::baselines
