// The values behind a cell, as statistics take them.
#pragma once

#include <vector>

#include "results/statistics.h"
#include "results/table_model.h"

namespace hyfreedp::results {

// Of the table's metric, by seed; seeds without a value are left out.
BySeed by_seed(const CellModel& cell);
std::vector<double> values_of(const CellModel& cell);

// Planned seeds without a value, or, of a folded row, without that of each candidate: a mean over the others is too good where the
// worst ones diverged.
std::vector<std::int64_t> missing_seeds(const CellModel& cell);
// Some planned seed has no answer yet, a value or a failure.
bool waits_for_seeds(const CellModel& cell);

}  // namespace hyfreedp::results
