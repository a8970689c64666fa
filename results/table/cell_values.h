// The values behind a cell, as statistics take them.
#pragma once

#include <vector>

#include "results/table/statistics.h"
#include "results/table/table_model.h"

namespace hyfreedp::results {

// The values of the table's metric by seed; seeds without a value are left out.
BySeed by_seed(const CellModel& cell);
std::vector<double> values_of(const CellModel& cell);

// The planned seeds without a value; of a folded row, without the value of each candidate. A mean
// over the other seeds is too good if the missing ones diverged.
std::vector<std::int64_t> missing_seeds(const CellModel& cell);
// True if a planned seed has neither a value nor a failure yet.
bool waits_for_seeds(const CellModel& cell);

}  // namespace hyfreedp::results
