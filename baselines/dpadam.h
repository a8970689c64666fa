// DPAdam as Mohapatra et al. tune it (tuned_grid.h): Adam at its default rate .001, on 4 clipping thresholds, all runs
// composed unless `tuning` says otherwise.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline dpadam();

}  // namespace hyfreedp::baselines
