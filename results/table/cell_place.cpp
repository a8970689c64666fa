#include "results/table/cell_place.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

#include "harness/base/text.h"

namespace hyfreedp::results {
namespace {

// Absent: the text names no column. Present and empty: the arm without privacy.
std::optional<std::optional<double>> column_from(const std::string& text) {
  if (text == "inf" || text == "non-private" || text == "∞") return std::optional<double>{};
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return std::optional<double>(value);
}

// Columns are written in specs and typed by people: they are the same where they print the same.
bool same_column(const std::optional<double>& a, const std::optional<double>& b) {
  return column_name(a) == column_name(b);
}

const RowModel* row_in(const PanelModel& panel, const std::string& name) {
  for (const auto& row : panel.rows) {
    if (row.id == name) return &row;
  }
  for (const auto& row : panel.rows) {
    if (row.title == name) return &row;
  }
  return nullptr;
}

const CellModel* cell_in(const RowModel& row, const std::optional<double>& column) {
  for (const auto& cell : row.cells) {
    if (cell.kind != CellModel::Kind::not_planned && same_column(cell.epsilon_target, column)) return &cell;
  }
  return nullptr;
}

std::string columns_of(const RowModel& row) {
  std::vector<std::string> names;
  for (const auto& cell : row.cells) {
    if (cell.kind != CellModel::Kind::not_planned) names.push_back(column_name(cell.epsilon_target));
  }
  return join(names, ", ");
}

Error no_such_panel(const TableModel& table, const std::string& name) {
  std::vector<std::string> ids;
  for (const auto& panel : table.panels) ids.push_back(panel.id);
  return error(fmt::format("{} has no panel '{}'.{} Panels: {}.", table.spec, name, did_you_mean(name, ids),
                           join(ids, ", ")));
}

Error no_such_row(const TableModel& table, const std::vector<const PanelModel*>& panels,
                  const std::string& name) {
  std::vector<std::string> ids;
  for (const auto* panel : panels) {
    for (const auto& row : panel->rows) {
      if (std::find(ids.begin(), ids.end(), row.id) == ids.end()) ids.push_back(row.id);
    }
  }
  const auto where =
      panels.size() == 1 ? fmt::format("panel {} of {}", panels[0]->id, table.spec) : table.spec;
  return error(
      fmt::format("{} has no row '{}'.{} Rows: {}.", where, name, did_you_mean(name, ids), join(ids, ", ")));
}

// Returns the error if `name` is what the table calls a group, its id or, folded, its title
// ("rates, median of 4"): a group has no runs of its own.
std::optional<Error> is_group(const std::vector<const PanelModel*>& panels, const std::string& name) {
  for (const auto* panel : panels) {
    std::vector<std::string> members;
    for (const auto& row : panel->rows) {
      if (!row.group.empty() && (name == row.group || name.starts_with(row.group + ", ")))
        members.push_back(row.id);
    }
    if (members.empty()) continue;
    return error(
        fmt::format("'{}' names no row but a group of rows, which a table may fold into one; what is behind "
                    "it are the runs of each of its rows. Name one of them: {}.",
                    name, join(members, ", ")));
  }
  return std::nullopt;
}

}  // namespace

Result<SpecRecord> find_spec(const Store& store, const std::string& name) {
  auto record = store.spec(name);
  if (!record) return record.error();
  if (*record) return std::move(**record);
  const auto specs = store.specs();
  if (!specs) return specs.error();
  std::vector<std::string> names;
  for (const auto& spec : *specs) names.push_back(spec.name);
  if (names.empty()) return error("the database holds no spec yet. `hyfreedp run SPEC.yaml` fills it.");
  return error(fmt::format("the database holds no spec named '{}' (it has: {}).{}", name, join(names, ", "),
                           did_you_mean(name, names)));
}

Result<CellPlace> find_cell(const TableModel& table, const CellRequest& request) {
  std::vector<const PanelModel*> panels;
  for (const auto& panel : table.panels) {
    if (request.panel.empty() || panel.id == request.panel) panels.push_back(&panel);
  }
  if (panels.empty()) return no_such_panel(table, request.panel);
  const auto column = column_from(request.column);
  CellPlace place;
  const RowModel* row_found = nullptr;
  for (const auto* panel : panels) {
    const auto* row = row_in(*panel, request.row);
    if (row == nullptr) continue;
    if (row_found == nullptr) row_found = row;
    const auto* cell = column ? cell_in(*row, *column) : nullptr;
    if (cell == nullptr) continue;
    if (place.cell == nullptr) {
      place.panel = panel;
      place.row = row;
      place.cell = cell;
    } else {
      place.other_panels.push_back(panel->id);
    }
  }
  if (place.cell != nullptr) return place;
  if (row_found == nullptr) {
    if (auto group = is_group(panels, request.row)) return std::move(*group);
  }
  if (row_found == nullptr) return no_such_row(table, panels, request.row);
  return error(fmt::format("row {} of {} has no column '{}'. Its columns (target ε): {}.", row_found->id,
                           table.spec, request.column, columns_of(*row_found)));
}

Result<TableModel> table_of_rows(const Store& store, const std::string& spec, bool confidential) {
  auto table = build_table(store, spec, {.confidential = confidential});
  if (!table) return table;
  const auto is_folded = [](const PanelModel& panel) {
    return panel.table.groups != TableSettings::Groups::all;
  };
  if (std::none_of(table->panels.begin(), table->panels.end(), is_folded)) return table;
  return build_table(store, spec,
                     {.confidential = confidential, .overrides = {.groups = TableSettings::Groups::all}});
}

std::string column_name(const std::optional<double>& epsilon) {
  return epsilon ? short_number(*epsilon, 8) : "inf";
}

}  // namespace hyfreedp::results
