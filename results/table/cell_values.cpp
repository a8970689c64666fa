#include "results/table/cell_values.h"

#include <algorithm>

namespace hyfreedp::results {

BySeed by_seed(const CellModel& cell) {
  BySeed values;
  for (const auto& result : cell.seeds) {
    if (result.value) values[result.seed] = *result.value;
  }
  return values;
}

std::vector<double> values_of(const CellModel& cell) {
  std::vector<double> values;
  for (const auto& result : cell.seeds) {
    if (result.value) values.push_back(*result.value);
  }
  return values;
}

std::vector<std::int64_t> missing_seeds(const CellModel& cell) {
  std::vector<std::int64_t> missing;
  for (const auto& result : cell.seeds) {
    if (!result.value || result.lacks_candidates) missing.push_back(result.seed);
  }
  return missing;
}

bool waits_for_seeds(const CellModel& cell) {
  return std::any_of(cell.seeds.begin(), cell.seeds.end(), [](const auto& result) {
    return result.state == StudyState::open && (!result.value || result.lacks_candidates);
  });
}

}  // namespace hyfreedp::results
