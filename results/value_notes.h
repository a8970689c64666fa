// The sentences beneath a table that its settings (table_options.h) ask for: what a value is, and each thing shown beside it.
#pragma once

#include <string>
#include <vector>

#include "results/table_model.h"

namespace hyfreedp::results {

// The first says what the numbers are. A sentence that does not hold for every panel names those that it is about.
std::vector<std::string> value_notes(const TableModel& table, bool single_seed);

}  // namespace hyfreedp::results
