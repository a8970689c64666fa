// Cells whose gradient noise the spec fixes (Cell::noise_multiplier), in place of an epsilon: what
// they cost. That is read from the events of the runs that the method asks for, so that noise and
// epsilon cannot disagree.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

// The epsilon, at the cell's delta, of all that the method executes for the cell: probes, clip
// counts, scores and whatever else its runs release, composed as the method concludes (private
// selection: Baseline::selection). What Cell::epsilon says is not read. It is the reported upper
// bound (accounting::report_epsilon), rounded up to four digits, so that tables can print it whole
// and it is the same on every machine.
//
// Errors: the method needs an epsilon, a run has another gradient noise than the cell, one of runs
// that cost different epsilons is reported, the cell cannot be filled, or it costs nothing or
// infinitely much.
Result<double> planned_epsilon(const Baseline& baseline, const Cell& cell);

// An error if the cell fixes the gradient noise and `config` has another.
Result<void> check_fixed_noise(const Cell& cell, const trial::TrialConfig& config);

}  // namespace hyfreedp::baselines
