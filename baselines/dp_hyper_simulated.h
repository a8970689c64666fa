// DP-hyper as the HyFreeDP paper prints it (Liu & Bu, ICLR 2025, section 5). No private search is
// run: the paper assumes that 15 % of epsilon have paid for a search that found a narrow range
// around the optimum, and training gets the rest.
//
//   1. The grid search of nondp-gs at the full budget (the same trials) gives the optimum eta*.
//   2. Training with share * epsilon (share .85) at the same delta, with eta in {1/2, 1, 2} eta*;
//      the paper does not give the range. The best run by un-noised validation accuracy is
//      reported.
// The row has the label `simulated`: it claims epsilon, and the price shown is that of the reported
// run alone.
#pragma once

#include <vector>

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline dp_hyper_simulated();

std::vector<double> narrow_range(double optimum);

}  // namespace hyfreedp::baselines
