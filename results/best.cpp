#include "results/best.h"

#include <algorithm>

#include "results/statistics.h"

namespace hyfreedp::results {
namespace {

constexpr double kLevel = 0.95;
constexpr double kTargetSlack = 1.005;  // calibration stops within 1e-4 relative of the target

bool competes(const CellModel& cell) {
  return cell.kind == CellModel::Kind::value && cell.epsilon_target && cell.label == "end-to-end DP" &&
         cell.epsilon && *cell.epsilon <= *cell.epsilon_target * kTargetSlack;
}

BySeed by_seed(const CellModel& cell) {
  BySeed values;
  for (const auto& result : cell.seeds) {
    if (result.accuracy) values[result.seed] = *result.accuracy;
  }
  return values;
}

}  // namespace

void mark_best(PanelModel& panel) {
  for (std::size_t column = 0; column < panel.columns.size(); ++column) {
    std::vector<CellModel*> rivals;
    for (auto& row : panel.rows) {
      if (competes(row.cells[column])) rivals.push_back(&row.cells[column]);
    }
    if (rivals.size() < 2) continue;
    const auto leader = *std::max_element(rivals.begin(), rivals.end(),
                                          [](const auto* a, const auto* b) { return a->mean < b->mean; });
    const double level = 1 - (1 - kLevel) / static_cast<double>(rivals.size() - 1);
    leader->best = std::all_of(rivals.begin(), rivals.end(), [&](const auto* rival) {
      if (rival == leader) return true;
      const auto interval = difference_interval(by_seed(*leader), by_seed(*rival), level);
      return interval && interval->low > 0;
    });
  }
}

}  // namespace hyfreedp::results
