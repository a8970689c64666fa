// What a cell's file (results/cell_file.h) holds of panel and row, planned again: a study's id is a hash of the spec's name, the
// panel, the row's method and options, epsilon, seed and delta, and a row's label is that of its method so read.
#pragma once

#include <vector>

#include "results/cell_file.h"

namespace hyfreedp::runner {

// Of each seed with a value its study, and of the row its label. Titles, notes and the spec's hash enter no id.
std::vector<results::CellCheck> plan_checks(const json::object& file);

}  // namespace hyfreedp::runner
