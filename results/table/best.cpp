#include "results/table/best.h"

#include <algorithm>

#include "results/table/anytime_interval.h"
#include "results/table/cell_values.h"

namespace hyfreedp::results {
namespace {

constexpr double kLevel = 0.95;
constexpr double kTargetSlack = 1.005;  // calibration stops within 1e-4 relative of the target

bool competes(const RowModel& row, const CellModel& cell) {
  return row.group.empty() && cell.kind == CellModel::Kind::value && missing_seeds(cell).empty() &&
         cell.epsilon_target && cell.label == "end-to-end DP" && cell.epsilon &&
         *cell.epsilon <= *cell.epsilon_target * kTargetSlack;
}

// An interval of the mean difference. Where the values decided how many there are, it is one that
// allows for that, and of the seeds that both have.
std::optional<Interval> interval_of(const PanelModel& panel, const CellModel& one, const CellModel& other,
                                    double level) {
  const auto a = by_seed(one), b = by_seed(other);
  if (!panel.has_sequential_seeds) return difference_interval(a, b, level);
  std::vector<double> differences;
  for (const auto& [seed, value] : a) {
    if (const auto found = b.find(seed); found != b.end()) differences.push_back(value - found->second);
  }
  return anytime_interval(differences, level);
}

}  // namespace

void mark_best(PanelModel& panel) {
  if (panel.table.metric == spec::Metric::seconds) return;  // fast is not good by itself
  const double sign = metric_facts(panel.table.metric).larger_is_better ? 1 : -1;
  for (std::size_t column = 0; column < panel.columns.size(); ++column) {
    std::vector<CellModel*> rivals;
    for (auto& row : panel.rows) {
      if (competes(row, row.cells[column])) rivals.push_back(&row.cells[column]);
    }
    if (rivals.size() < 2) continue;
    const auto leader = *std::max_element(rivals.begin(), rivals.end(), [&](const auto* a, const auto* b) {
      return sign * a->mean < sign * b->mean;
    });
    const double level = 1 - (1 - kLevel) / static_cast<double>(rivals.size() - 1);
    leader->best = std::all_of(rivals.begin(), rivals.end(), [&](const auto* rival) {
      if (rival == leader) return true;
      const auto interval = interval_of(panel, *leader, *rival, level);
      return interval && (sign > 0 ? interval->low > 0 : interval->high < 0);
    });
  }
}

}  // namespace hyfreedp::results
