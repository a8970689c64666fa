#include "results/table/groups.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "results/table/cell_values.h"

namespace hyfreedp::results {
namespace {

using Groups = TableSettings::Groups;

std::vector<std::int64_t> all_seeds(const std::vector<const CellModel*>& members) {
  std::vector<std::int64_t> seeds;
  for (const auto* member : members) {
    for (const auto& result : member->seeds) add_once(seeds, result.seed);
  }
  std::sort(seeds.begin(), seeds.end());
  return seeds;
}

// The weakest promise of all: what a row may say of itself where it is made of several. A label
// that is not known promises nothing.
std::string weakest(const std::vector<std::string>& labels) {
  static const std::vector<std::string> kStrengths{"oracle", "simulated", "end-to-end DP"};
  const auto strength = [](const std::string& label) {
    const auto found = std::find(kStrengths.begin(), kStrengths.end(), label);
    return found == kStrengths.end() ? -1 : static_cast<int>(found - kStrengths.begin());
  };
  const auto found = std::min_element(
      labels.begin(), labels.end(), [&](const auto& a, const auto& b) { return strength(a) < strength(b); });
  return found == labels.end() ? "" : *found;
}

double folded(std::vector<double> values, const PanelModel& panel) {
  if (panel.table.groups == Groups::median) return quantile(values, 0.5);
  const auto [least, largest] = std::minmax_element(values.begin(), values.end());
  return metric_facts(panel.table.metric).larger_is_better ? *largest : *least;
}

SeedResult fold_seed(std::int64_t seed, const std::vector<const CellModel*>& members,
                     const PanelModel& panel) {
  SeedResult result;
  result.seed = seed;
  result.state = StudyState::failed;
  std::vector<double> values, accuracies;
  bool open = false, lacks = false;
  for (const auto* member : members) {
    for (const auto& one : member->seeds) {
      if (one.seed != seed) continue;
      lacks = lacks || !one.value;
      if (one.value) values.push_back(*one.value);
      if (one.accuracy) accuracies.push_back(*one.accuracy);
      open = open || (!one.value && one.state == StudyState::open);
      if (one.state == StudyState::failed) {
        result.failure_kind = one.failure_kind;
        result.failure_message = one.failure_message;
      }
    }
  }
  if (!values.empty()) {
    result.state = open ? StudyState::open : StudyState::concluded;
    // A candidate that diverged would not have been the best, but the median is another with it.
    result.lacks_candidates = lacks && (open || panel.table.groups == Groups::median);
    result.value = folded(values, panel);
    if (panel.table.metric == spec::Metric::accuracy) result.accuracy = result.value;
  } else if (open) {
    result.state = StudyState::open;
  }
  return result;
}

void add_spent(CellModel& cell, const CellModel& member) {
  if (!member.epsilon) return;
  if (!cell.epsilon || *member.epsilon > *cell.epsilon) {
    cell.epsilon = member.epsilon;
    cell.accountant = member.accountant;
    cell.noise_accountant = member.noise_accountant;
  }
  const double least = member.epsilon_least.value_or(*member.epsilon);
  cell.epsilon_least = std::min(cell.epsilon_least.value_or(least), least);
}

// The smallest claim beside the largest epsilon: the gap is never told smaller than a candidate's
// own.
void add_claim(CellModel& cell, const CellModel& member) {
  if (!member.claimed_epsilon) return;
  cell.claimed_epsilon =
      std::min(cell.claimed_epsilon.value_or(*member.claimed_epsilon), *member.claimed_epsilon);
}

CellModel fold_cell(const std::vector<const CellModel*>& members, const PanelModel& panel) {
  CellModel cell;
  cell.epsilon_target = members.front()->epsilon_target;
  cell.decimals = members.front()->decimals;
  double seconds = 0;
  for (const auto* member : members) {
    add_spent(cell, *member);
    add_claim(cell, *member);
    for (const auto& flag : member->flags) add_once(cell.flags, flag);
    for (const int note : member->notes) add_once(cell.notes, note);
    if (member->seconds) seconds += *member->seconds;
    cell.memory.raise_to(member->memory);
    if (cell.failure.empty()) cell.failure = member->failure;
  }
  if (seconds > 0) cell.seconds = seconds;
  for (const auto seed : all_seeds(members)) cell.seeds.push_back(fold_seed(seed, members, panel));
  const auto values = values_of(cell);
  cell.n = static_cast<int>(values.size());
  const auto any = [&](CellModel::Kind kind) {
    return std::any_of(members.begin(), members.end(),
                       [&](const auto* member) { return member->kind == kind; });
  };
  if (cell.n > 0) {
    cell.kind = CellModel::Kind::value;
    cell.mean = mean(values);
    cell.sd = sample_sd(values);
  } else {
    cell.kind = any(CellModel::Kind::open)     ? CellModel::Kind::open
                : any(CellModel::Kind::failed) ? CellModel::Kind::failed
                                               : CellModel::Kind::not_planned;
  }
  return cell;
}

// A candidate that has not run yet counts with what its row promises.
std::string label_of(const std::vector<const RowModel*>& members, std::size_t column,
                     const PanelModel& panel) {
  if (panel.columns[column] && panel.table.groups == Groups::max) return "oracle";
  std::vector<std::string> labels;
  for (const auto* member : members) {
    const auto& cell = member->cells[column];
    if (!cell.label.empty()) {
      labels.push_back(cell.label);
    } else if (cell.epsilon_target && cell.kind != CellModel::Kind::not_planned) {
      labels.push_back(member->label);
    }
  }
  return weakest(labels);
}

RowModel fold_rows(const std::vector<const RowModel*>& members, const PanelModel& panel,
                   Footnotes& footnotes) {
  RowModel row;
  row.id = row.group = members.front()->group;
  const bool is_median = panel.table.groups == Groups::median;
  row.title = fmt::format("{}, {} of {}", row.group, is_median ? "median" : "best", members.size());
  std::vector<double> seconds;
  std::vector<std::string> labels, promised, methods;
  for (const auto* member : members) {
    add_once(promised, member->label);
    add_once(methods, member->method);
  }
  row.method = fmt::format("{}", fmt::join(methods, " / "));
  for (std::size_t column = 0; column < panel.columns.size(); ++column) {
    std::vector<const CellModel*> cells;
    cells.reserve(members.size());
    for (const auto* member : members) cells.push_back(&member->cells[column]);
    row.cells.push_back(fold_cell(cells, panel));
    auto& cell = row.cells.back();
    cell.label = label_of(members, column, panel);
    for (const auto& flag : cell.flags) add_once(row.flags, flag);
    if (cell.epsilon_target && !cell.label.empty()) add_once(labels, cell.label);
    if (cell.seconds) seconds.push_back(*cell.seconds);
    row.memory.raise_to(cell.memory);
  }
  row.label = labels.empty() ? weakest(promised) : fmt::format("{}", fmt::join(labels, " / "));
  if (!seconds.empty()) row.seconds = mean(seconds);
  for (const auto* member : members) {
    for (const int note : member->notes) add_once(row.notes, note);
  }
  if (promised.size() > 1) {
    row.notes.push_back(footnotes.number_of(
        fmt::format("The candidates of group {} are labelled {}; their {} is no better than "
                    "the weakest of them.",
                    row.group, fmt::join(promised, ", "), is_median ? "median" : "best")));
  }
  row.notes.push_back(footnotes.number_of(
      fmt::format("For each seed the {} over {} candidates, the rows of group {}, as far as they have a "
                  "value. {}The ε shown is the "
                  "largest of one candidate's; running all of them costs more.",
                  is_median ? "median" : "best", members.size(), row.group,
                  is_median ? "" : "The choice looks at the test results that are shown: an oracle's. ")));
  return row;
}

}  // namespace

Result<void> fold_groups(PanelModel& panel, Footnotes& footnotes) {
  if (panel.table.groups == Groups::all) return {};
  std::map<std::string, std::vector<const RowModel*>> members;
  for (const auto& row : panel.rows) {
    if (row.group.empty()) continue;
    members[row.group].push_back(&row);
    for (const auto& cell : row.cells) {
      if (cell.is_private_selection) {
        return error(
            fmt::format("panel {}: rows of group '{}' are privately selected and cannot be folded: a {} over "
                        "them would say more of "
                        "their runs than the selection releases. Use groups: all.",
                        panel.id, row.group, panel.table.groups == Groups::median ? "median" : "maximum"));
      }
    }
  }
  std::vector<RowModel> rows;
  for (const auto& row : panel.rows) {
    if (row.group.empty()) {
      rows.push_back(row);
    } else if (const auto& group = members.at(row.group); group.front() == &row) {
      rows.push_back(fold_rows(group, panel, footnotes));
    }
  }
  panel.rows = std::move(rows);
  return {};
}

}  // namespace hyfreedp::results
