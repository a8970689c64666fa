// ADADP as Mohapatra et al. tune it (tuned_grid.h): the rule of Koskela & Honkela, AISTATS 2020 (optimizers/adadp.h), which
// finds its own step size, on 4 clipping thresholds, all runs composed unless `tuning` says otherwise.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline adadp();

}  // namespace hyfreedp::baselines
