// DPMomentum as Mohapatra et al. tune it (tuned_grid.h): SGD with momentum on the grid of DPSGD.
// The paper also tunes the momentum, on a grid that it does not print; here it is .9 by default
// (option `momenta`).
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline dpmomentum();

}  // namespace hyfreedp::baselines
