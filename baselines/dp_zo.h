// DP-ZO (optimizers/dp_zo.h) on a grid of learning rates and clipping thresholds, tuned as the
// rivals of Mohapatra et al. are (tuned_grid.h). For one rate, for linear scaling or another search
// give `train` the optimizer dp-zo, with clipping abadi, and take any method that trains with the
// panel's optimizer.
//
// The default grid is of this project: a decade apart, about where a scale of 1e-3 has changes of
// losses on networks of 1e4 to 1e8 parameters.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline dp_zo();

}  // namespace hyfreedp::baselines
