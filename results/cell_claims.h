// What a cell's file (cell_file.h) says of itself in words, held against the rest of the same file: which seeds there are, the
// column, labels, flags and the claimed epsilon. None of it enters mean or epsilon, and all of it is read with them.
#pragma once

#include <vector>

#include "results/cell_file.h"

namespace hyfreedp::results {

// What reading the file gave: of each seed with a value, in the file's order.
struct DerivedSeed {
  const json::object* seed = nullptr;
  std::optional<double> epsilon;  // total, derived from its events
};

// The seeds are those that the row asks for; the column is one of its epsilons and nothing that claims no excess spends more;
// labels agree with the row's, with the runs' configs and with each other; seeded noise is flagged, and only that; a claimed
// epsilon is the column's, and where the noise is set by the paper's accounting there is one, flagged where it falls short.
std::vector<CellCheck> claim_checks(const json::object& file, const std::vector<DerivedSeed>& seeds);

}  // namespace hyfreedp::results
