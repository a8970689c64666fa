// The values behind a cell, as statistics take them.
#pragma once

#include <vector>

#include "results/statistics.h"
#include "results/table_model.h"

namespace hyfreedp::results {

// Of the table's metric, by seed; seeds without a value are left out.
BySeed by_seed(const CellModel& cell);
std::vector<double> values_of(const CellModel& cell);

}  // namespace hyfreedp::results
