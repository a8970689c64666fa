// DPSGD as Mohapatra et al. tune it (tuned_grid.h): plain SGD on 10 learning rates by 4 clipping thresholds, chosen by
// private selection unless `tuning` says otherwise.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline dpsgd();

}  // namespace hyfreedp::baselines
