// Random search: n draws of the learning rate; every draw is run and charged, and the best run by a
// noised validation score is reported.
//
// One run (the default) is the rival of Panda et al., ICML 2024, sections 2.1 and 5.2:
// hyperparameters drawn at random, one run with the whole budget, nothing selected. Several runs
// share the budget (search.h, composed): "multiple runs with smaller privacy budgets", ibid. The
// same search by private selection is dp-hyper. If the options give a range of steps or of clipping
// thresholds, T is drawn uniformly and C log-uniformly from it; by default they are the panel's.
// The draws come from draw(), so they do not depend on data.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline random_search();

}  // namespace hyfreedp::baselines
