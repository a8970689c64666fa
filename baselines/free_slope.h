// One run whose learning rates follow the slopes of its own released gradients
// (optimizers/free_slope.h). It pays for gradients alone.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline free_slope();

}  // namespace hyfreedp::baselines
