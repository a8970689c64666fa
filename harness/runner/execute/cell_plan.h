// Checks a cell's file (results/provenance/cell_file.h) by planning its panel and row again: a
// study's id is a hash of the spec's name, the panel, the row's method and options, epsilon, seed
// and delta, and a row's label is that of its method.
#pragma once

#include <vector>

#include "results/provenance/cell_file.h"

namespace hyfreedp::runner {

// The study of each seed with a value, and the label of the row. Titles, notes and the spec's hash
// enter no id.
std::vector<results::CellCheck> plan_checks(const json::object& file);

}  // namespace hyfreedp::runner
