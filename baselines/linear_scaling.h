// Linear scaling (Panda et al., ICML 2024, Algorithms 1-3; arithmetic in linear_rule.h): learning
// rate and length follow from a line through two cheap private sweeps. n + n + 1 full-batch runs of
// SGD with momentum .9; epsilon_1 = .1 epsilon, epsilon_2 = .2 epsilon, and the final run gets what
// exact composition over all runs leaves at the cell's delta. Every run is released, so all
// compose. Sweep runs are chosen by validation accuracy with Gaussian noise, priced on its own
// split. The noise is calibrated to an epsilon, so the method has no non-private column.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline linear_scaling();

}  // namespace hyfreedp::baselines
