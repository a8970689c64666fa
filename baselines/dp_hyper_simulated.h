// DP-hyper as the HyFreeDP paper prints it: Liu & Bu, ICLR 2025, section 5. No search is run: 15 % of epsilon is
// assumed to have paid for one that found a narrow range around the optimum, and training gets the rest.
//
//   1. The grid search of nondp-gs at the full budget (the same trials) gives the optimum eta*.
//   2. Training at share * epsilon (.85) and the same delta with eta in {1/2, 1, 2} eta*; the paper does not give the
//      range. The best by un-noised validation accuracy is reported.
// The row is `simulated`: it claims epsilon, and what is priced is the reported run.
#pragma once

#include <vector>

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline dp_hyper_simulated();

std::vector<double> narrow_range(double optimum);

}  // namespace hyfreedp::baselines
