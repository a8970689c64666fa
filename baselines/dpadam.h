// DPAdam as Mohapatra et al. tune it (tuned_grid.h): Adam at its default rate .001, with 4 clipping
// thresholds. By default all runs are composed (option `tuning`).
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline dpadam();

}  // namespace hyfreedp::baselines
