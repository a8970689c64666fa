// Random search: n draws of the learning rate, each run, all charged; the best by noised validation score.
//
// runs 1 (the default) is the rival of Panda et al., ICML 2024, sections 2.1 and 5.2: hyperparameters drawn at random, one
// run with the whole budget, nothing selected. More runs split the budget (search.h, composed): "multiple runs with smaller
// privacy budgets", ibid. Their private-selection counterpart is dp-hyper.
// A range of steps or of clipping thresholds makes these drawn too, T uniformly and C log-uniformly; else they are the
// panel's. Draws come from draw(), so they depend on no data.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline random_search();

}  // namespace hyfreedp::baselines
