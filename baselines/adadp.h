// ADADP as Mohapatra et al. tune it (tuned_grid.h): the rule of Koskela & Honkela, AISTATS 2020
// (optimizers/adadp.h), which finds its own step size, with 4 clipping thresholds. By default all
// runs are composed (option `tuning`).
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline adadp();

}  // namespace hyfreedp::baselines
