#include "results/cell_values.h"

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

}  // namespace hyfreedp::results
