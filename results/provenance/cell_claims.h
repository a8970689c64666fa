// Checks the statements of a cell's file (cell_file.h) against the rest of the file: the seeds, the
// column, labels, flags and the claimed epsilon. None of them enters mean or epsilon, but all are
// read with them.
#pragma once

#include <vector>

#include "results/provenance/cell_file.h"

namespace hyfreedp::results {

// The values derived from the file for each seed with a value, in the file's order.
struct DerivedSeed {
  const json::object* seed = nullptr;
  std::optional<double> epsilon;  // total, derived from its events
};

// The checks: the seeds are those that the row asks for, or, where a comparison says how many are
// needed, the first of them; the column is one of its epsilons, and a
// row that claims no other epsilon spends no more than that; labels agree with the row's, with the
// runs' configs and with each other; seeded noise has its flag, and other noise has not; a claimed
// epsilon is the column's, and if the noise follows the paper's accounting there is a claim,
// flagged if the cost exceeds it.
std::vector<CellCheck> claim_checks(const json::object& file, const std::vector<DerivedSeed>& seeds);

}  // namespace hyfreedp::results
