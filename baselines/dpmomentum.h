// DPMomentum as Mohapatra et al. tune it (tuned_grid.h): SGD with momentum on the grid of DPSGD. The paper tunes the
// momentum too, on a grid that it does not print; here it is .9 unless `momenta` lists more.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline dpmomentum();

}  // namespace hyfreedp::baselines
