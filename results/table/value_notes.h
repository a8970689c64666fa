// The sentences beneath a table that follow from its settings (table_options.h): what a value is,
// and what is shown beside it.
#pragma once

#include <string>
#include <vector>

#include "results/table/table_model.h"

namespace hyfreedp::results {

// The first note says what the numbers are. A note that does not hold for every panel names its
// panels.
std::vector<std::string> value_notes(const TableModel& table, bool single_seed);

}  // namespace hyfreedp::results
