#include "results/table/table_extras.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "harness/base/text.h"
#include "results/table/bootstrap.h"
#include "results/table/cell_text.h"
#include "results/table/cell_values.h"
#include "results/table/detectable.h"
#include "results/table/ranks.h"

namespace hyfreedp::results {
namespace {

constexpr double kIntervalLevel = 0.95;
constexpr int kNear = 3;  // points of accuracy
using IntervalKind = TableSettings::IntervalKind;

bool has_value(const CellModel& cell) { return cell.kind == CellModel::Kind::value; }

bool is_time(const PanelModel& panel) { return panel.table.metric == spec::Metric::seconds; }

const RowModel* find_row(const PanelModel& panel, const std::string& id) {
  if (id.empty()) return nullptr;
  const auto found =
      std::find_if(panel.rows.begin(), panel.rows.end(), [&](const auto& row) { return row.id == id; });
  return found == panel.rows.end() ? nullptr : &*found;
}

void add_intervals(PanelModel& panel) {
  if (panel.table.interval == IntervalKind::none) return;
  for (auto& row : panel.rows) {
    for (auto& cell : row.cells) {
      const auto values = values_of(cell);
      cell.interval = panel.table.interval == IntervalKind::t ? mean_interval(values, kIntervalLevel)
                                                              : bootstrap_interval(values, kIntervalLevel);
    }
  }
}

// Least and largest a / b over shared seeds; none of a single one.
std::optional<Interval> ratio_range(const BySeed& a, const BySeed& b) {
  std::optional<Interval> range;
  int shared = 0;
  for (const auto& [seed, value] : a) {
    const auto other = b.find(seed);
    if (other == b.end() || !(other->second > 0)) continue;
    ++shared;
    const double ratio = value / other->second;
    range =
        range ? Interval{std::min(range->low, ratio), std::max(range->high, ratio)} : Interval{ratio, ratio};
  }
  return shared < 2 ? std::nullopt : range;
}

void add_relation(CellModel& cell, const CellModel& reference, bool time) {
  if (!has_value(cell) || !has_value(reference)) return;
  if (time) {
    if (!(reference.mean > 0)) return;
    cell.is_ratio = true;
    cell.relation = cell.mean / reference.mean;
    cell.relation_range = ratio_range(by_seed(cell), by_seed(reference));
  } else {
    cell.relation = cell.mean - reference.mean;
    cell.relation_range = difference_interval(by_seed(cell), by_seed(reference), kIntervalLevel);
  }
}

void add_relations(PanelModel& panel) {
  const auto* found = find_row(panel, panel.table.relative_to);
  if (found == nullptr) return;
  const auto reference = *found;  // a copy: rows change beneath
  for (auto& row : panel.rows) {
    if (row.id == reference.id && !is_time(panel)) continue;
    for (std::size_t i = 0; i < row.cells.size(); ++i)
      add_relation(row.cells[i], reference.cells[i], is_time(panel));
  }
}

// Index of the row with the best mean among those of several seeds, with which others can be
// compared.
std::optional<std::size_t> leader_of(const PanelModel& panel, std::size_t column) {
  const bool larger = metric_facts(panel.table.metric).larger_is_better;
  std::optional<std::size_t> leader;
  for (std::size_t i = 0; i < panel.rows.size(); ++i) {
    const auto& cell = panel.rows[i].cells[column];
    if (!has_value(cell) || cell.n < 2) continue;
    const bool first = !leader;
    if (first || (larger ? cell.mean > panel.rows[*leader].cells[column].mean
                         : cell.mean < panel.rows[*leader].cells[column].mean)) {
      leader = i;
    }
  }
  return leader;
}

std::vector<double> paired_differences(const CellModel& a, const CellModel& b) {
  const auto other = by_seed(b);
  std::vector<double> differences;
  for (const auto& [seed, value] : by_seed(a)) {
    if (const auto found = other.find(seed); found != other.end())
      differences.push_back(value - found->second);
  }
  return differences;
}

void add_detectable(PanelModel& panel) {
  if (!panel.table.mdd) return;
  const auto* reference = find_row(panel, panel.table.relative_to);
  for (std::size_t column = 0; column < panel.columns.size(); ++column) {
    auto against = leader_of(panel, column);
    if (reference != nullptr) against = static_cast<std::size_t>(reference - panel.rows.data());
    if (!against) continue;
    for (std::size_t i = 0; i < panel.rows.size(); ++i) {
      if (i == *against) continue;
      auto& cell = panel.rows[i].cells[column];
      const auto differences = paired_differences(cell, panel.rows[*against].cells[column]);
      const auto sd = sample_sd(differences);
      if (sd) cell.detectable = detectable_difference(*sd, static_cast<int>(differences.size()));
    }
  }
}

// "Row A (ε = 1: seed 1, 2; ε = 3: seed 0)" of every row that has a value but not of each planned
// seed.
std::vector<std::string> rows_with_missing_seeds(const PanelModel& panel,
                                                 const std::vector<std::size_t>& columns) {
  std::vector<std::string> rows;
  for (const auto& row : panel.rows) {
    std::vector<std::string> cells;
    for (const auto column : columns) {
      const auto missing = missing_seeds(row.cells[column]);
      if (!has_value(row.cells[column]) || missing.empty()) continue;
      cells.push_back(
          fmt::format("{}: seed {}", arm_title(panel, panel.columns[column]), fmt::join(missing, ", ")));
    }
    if (!cells.empty()) rows.push_back(fmt::format("{} ({})", row.title, join(cells, "; ")));
  }
  return rows;
}

std::vector<std::size_t> all_columns(const PanelModel& panel) {
  std::vector<std::size_t> columns(panel.columns.size());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  return columns;
}

void add_rerr(PanelModel& panel, Footnotes& footnotes) {
  const auto* random = find_row(panel, panel.table.rerr_random);
  const auto* oracle = find_row(panel, panel.table.rerr_oracle);
  if (random == nullptr || oracle == nullptr) return;
  for (auto& row : panel.rows) {
    if (&row == random || &row == oracle) continue;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const auto &low = random->cells[i], &high = oracle->cells[i];
      if (!has_value(row.cells[i]) || !has_value(low) || !has_value(high) || high.mean == low.mean) continue;
      row.cells[i].rerr = (row.cells[i].mean - low.mean) / (high.mean - low.mean);
    }
  }
  if (const auto rows = rows_with_missing_seeds(panel, all_columns(panel)); !rows.empty()) {
    panel.notes.push_back(footnotes.number_of(fmt::format(
        "RERR is of means over the seeds that are left where some failed or are missing, which is "
        "too good for the row where the bad ones failed: {}.",
        join(rows, "; "))));
  }
}

// The oracle row to beat: the one that RERR names, else the best.
const CellModel* oracle_cell(const PanelModel& panel, std::size_t column) {
  if (const auto* named = find_row(panel, panel.table.rerr_oracle)) return &named->cells[column];
  const CellModel* best = nullptr;
  for (const auto& row : panel.rows) {
    const auto& cell = row.cells[column];
    if (row.label != "oracle" || !has_value(cell)) continue;
    const bool larger = metric_facts(panel.table.metric).larger_is_better;
    if (best == nullptr || (larger ? cell.mean > best->mean : cell.mean < best->mean)) best = &cell;
  }
  return best;
}

void mark_beaten_oracles(PanelModel& panel, Footnotes& footnotes) {
  if (!panel.table.oracle_beaten || is_time(panel)) return;
  const bool larger = metric_facts(panel.table.metric).larger_is_better;
  for (std::size_t column = 0; column < panel.columns.size(); ++column) {
    const auto* oracle = oracle_cell(panel, column);
    if (oracle == nullptr || !has_value(*oracle) || !missing_seeds(*oracle).empty()) continue;
    for (auto& row : panel.rows) {
      auto& cell = row.cells[column];
      if (&cell == oracle || row.label == "oracle" || cell.label == "oracle" || !has_value(cell)) continue;
      if (!missing_seeds(cell).empty()) continue;  // those that are left beat nothing
      const auto range = difference_interval(by_seed(cell), by_seed(*oracle), kIntervalLevel);
      if (!range || !(larger ? range->low > 0 : range->high < 0)) continue;
      cell.beats_oracle = true;
      add_once(cell.notes, footnotes.number_of("Oracle beaten: the 95 % interval of the difference to the "
                                               "oracle row, paired by seed, lies beyond 0. "
                                               "An oracle has the best setting of its grid and of noisy "
                                               "scores, so this says that the grid is too "
                                               "coarse or does not hold the method's setting, or is chance: "
                                               "each cell is tested by itself, and at 95 "
                                               "% one in 40 equal ones is marked."));
    }
  }
}

// Adds a note with the seeds' values to a cell whose mean, or median if that is shown, is near no
// seed's result. Only accuracy has a fixed size of what is near, in points.
void note_distant_means(PanelModel& panel, Footnotes& footnotes) {
  if (panel.table.metric != spec::Metric::accuracy) return;
  for (std::size_t column = 0; column < panel.columns.size(); ++column) {
    const auto* oracle = oracle_cell(panel, column);
    for (auto& row : panel.rows) {
      auto& cell = row.cells[column];
      if (!has_value(cell)) continue;
      auto values = values_of(cell);
      std::ranges::sort(values);
      const double median = quantile(values, 0.5);
      const double centre = panel.look.is_median ? median : cell.mean;
      if (std::ranges::any_of(values, [&](double value) { return std::abs(value - centre) <= kNear; })) {
        continue;
      }
      auto text = fmt::format("No seed is within {} points of this {}: {:.1f}", kNear,
                              panel.look.is_median ? "median" : "mean", fmt::join(values, ", "));
      if (!panel.look.is_median) text += fmt::format("; median {:.1f}", median);
      if (oracle != nullptr && has_value(*oracle) && oracle != &cell) {
        const auto near = std::ranges::count_if(values, [&](double v) { return v >= oracle->mean - kNear; });
        text += fmt::format("; {} of {} reach the oracle's mean less {} points", near, values.size(), kNear);
      }
      add_once(cell.notes, footnotes.number_of(text + "."));
    }
  }
}

std::vector<std::size_t> rankable_columns(const PanelModel& panel) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < panel.columns.size(); ++i) {
    const bool all = std::all_of(panel.rows.begin(), panel.rows.end(), [&](const auto& row) {
      const auto kind = row.cells[i].kind;
      return (kind == CellModel::Kind::value && !waits_for_seeds(row.cells[i])) ||
             kind == CellModel::Kind::failed;
    });
    const bool any = std::any_of(panel.rows.begin(), panel.rows.end(),
                                 [&](const auto& row) { return has_value(row.cells[i]); });
    if (all && any) columns.push_back(i);
  }
  return columns;
}

void add_ranks(PanelModel& panel, Footnotes& footnotes) {
  if (!panel.table.ranks) return;
  const auto columns = rankable_columns(panel);
  if (columns.empty()) {
    panel.notes.push_back(footnotes.number_of("No mean ranks: no column has every row finished."));
    return;
  }
  std::vector<std::string> titles;
  bool failed = false;
  for (const auto column : columns) {
    titles.push_back(arm_title(panel, panel.columns[column]));
    std::vector<std::optional<double>> values;
    for (const auto& row : panel.rows) {
      const auto& cell = row.cells[column];
      const bool whole = has_value(cell) && missing_seeds(cell).empty();
      values.push_back(whole ? std::optional(cell.mean) : std::nullopt);
      failed = failed || !whole;
    }
    const auto places = ranks(values, metric_facts(panel.table.metric).larger_is_better);
    for (std::size_t i = 0; i < panel.rows.size(); ++i) {
      panel.rows[i].cells[column].rank = places[i];
      auto& sum = panel.rows[i].mean_rank;
      sum = sum.value_or(0) + places[i] / static_cast<double>(columns.size());
    }
  }
  const auto rows = rows_with_missing_seeds(panel, columns);
  std::string last = failed ? " A row that failed comes last." : "";
  if (!rows.empty()) {
    last = fmt::format(" A row that failed comes last, and so does one of which some seeds failed: {}.",
                       join(rows, "; "));
  }
  panel.notes.push_back(footnotes.number_of(fmt::format(
      "Mean rank over {} (the columns that all rows have), 1 is the best; equal means share a rank.{} It "
      "ranks means, whatever chance made of them, and oracle rows with the others.",
      join(titles, ", "), last)));
}

// Published and ours are of one kind only where they are in one unit.
bool is_comparable(const PanelModel& panel, const CellModel& cell) {
  return has_value(cell) && panel.table.metric == spec::Metric::accuracy && cell.paper->unit == "%";
}

void subtract_paper(const TableSettings& settings, CellModel& cell) {
  cell.paper->difference = cell.mean - cell.paper->value;
  if (settings.paper_tolerance) {
    cell.paper->in_band = std::abs(*cell.paper->difference) <= *settings.paper_tolerance;
  }
}

void rank_beside_paper(const std::vector<CellModel*>& cells) {
  if (cells.size() < 2) return;
  std::vector<std::optional<double>> ours, papers;
  for (const auto* cell : cells) {
    ours.emplace_back(cell->mean);
    papers.emplace_back(cell->paper->value);
  }
  const auto our_ranks = ranks(ours, true), paper_ranks = ranks(papers, true);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i]->paper->our_rank = our_ranks[i];
    cells[i]->paper->rank = paper_ranks[i];
    cells[i]->paper->ranked = static_cast<int>(cells.size());
  }
}

void compare_ood_test(const PanelModel& panel, bool may_subtract, CellModel& cell) {
  for (auto& value : cell.ood_test) {
    if (!panel.table.paper) value.paper.reset();
    if (!may_subtract || value.n == 0 || !value.paper || value.paper->unit != "%") continue;
    value.paper->difference = value.mean - value.paper->value;
  }
  std::erase_if(cell.ood_test, [](const OodValue& value) { return value.n == 0 && !value.paper; });
}

void compare_with_paper(PanelModel& panel) {
  const bool may_subtract = panel.is_the_papers_task || panel.table.paper_tolerance;
  for (std::size_t column = 0; column < panel.columns.size(); ++column) {
    std::vector<CellModel*> comparable;
    for (auto& row : panel.rows) {
      auto& cell = row.cells[column];
      if (!panel.table.paper) cell.paper.reset();
      compare_ood_test(panel, may_subtract, cell);
      if (cell.paper && is_comparable(panel, cell)) comparable.push_back(&cell);
    }
    if (!may_subtract) {
      rank_beside_paper(comparable);
      continue;
    }
    for (auto* cell : comparable) subtract_paper(panel.table, *cell);
  }
}

}  // namespace

void add_extras(PanelModel& panel, Footnotes& footnotes) {
  add_intervals(panel);
  add_relations(panel);
  add_detectable(panel);
  add_rerr(panel, footnotes);
  mark_beaten_oracles(panel, footnotes);
  note_distant_means(panel, footnotes);
  add_ranks(panel, footnotes);
  compare_with_paper(panel);
}

}  // namespace hyfreedp::results
