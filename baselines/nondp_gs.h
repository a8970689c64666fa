// NonDP-GS: a grid of learning rates, the best run kept, the search not charged ("upper bound").
// Liu & Bu, ICLR 2025, section 5: eta in {5e-5, 1e-4, 5e-4, 1e-3, 5e-3}. The paper does not say on what the
// best is chosen; here it is the un-noised accuracy on private_validation, so the row is an oracle: its
// epsilon is that of the reported run alone.
//
// `schedule: cosine` is its tables' "NonDP-GS w/ LS" for BitFit (table 7), `schedule: linear` that of full fine-tuning (table 5); the
// warm-up is not the paper's. The grid is of the schedule's largest rate (optimizers/schedule.h).
// With `thresholds` and `lengths` the grid is of (eta, C, T): the oracle grid search of the other papers' tables.
#pragma once

#include "baselines/support.h"

namespace hyfreedp::baselines {

Baseline nondp_gs();

// The grid's runs at the cell's full budget; equal grids of several rows are the same trials.
Result<std::vector<trial::TrialConfig>> oracle_grid(const Cell& cell, std::optional<double> epsilon,
                                                    const std::vector<double>& rates);

}  // namespace hyfreedp::baselines
