// DPSGD as Mohapatra et al. tune it (tuned_grid.h): plain SGD with 10 learning rates times 4
// clipping thresholds. By default one is chosen by private selection (option `tuning`).
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline dpsgd();

}  // namespace hyfreedp::baselines
