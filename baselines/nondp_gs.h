// NonDP-GS: a grid of learning rates of which the best run is kept; the search is not charged.
// Liu & Bu, ICLR 2025, section 5: eta in {5e-5, 1e-4, 5e-4, 1e-3, 5e-3}. The paper does not say by
// which measure the best is chosen. Here it is the un-noised accuracy on private_validation, so the
// row has the label oracle, and its epsilon is that of the reported run alone.
//
// `schedule: cosine` is "NonDP-GS w/ LS" of the paper's table for BitFit (table 7),
// `schedule: linear` that for full fine-tuning (table 5); the warm-up is ours. The grid is of the
// schedule's largest rate (optimizers/schedule.h). With `thresholds` and `lengths` the grid is of
// (eta, C, T): the oracle grid search of the other papers' tables.
#pragma once

#include "baselines/support.h"

namespace hyfreedp::baselines {

Baseline nondp_gs();

// The grid's runs at the cell's full budget. Equal grids of several rows are the same trials, which
// run once.
Result<std::vector<trial::TrialConfig>> oracle_grid(const Cell& cell, std::optional<double> epsilon,
                                                    const std::vector<double>& rates);

}  // namespace hyfreedp::baselines
