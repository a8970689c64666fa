// The figure kind `accuracy`: the table's cells, or another metric in their place.
#include <algorithm>
#include <map>
#include <tuple>

#include "plots/accuracy_figure.h"
#include "plots/kinds.h"
#include "results/table/statistics.h"

namespace hyfreedp::plots {
namespace {

using results::CellModel;
using results::PanelModel;
using results::TableModel;

// The panels, rows and columns that the figure names.
TableModel shown_of(const Source& source, const results::FigureRequest& request) {
  TableModel shown = source.table;
  std::erase_if(shown.panels, [&](const PanelModel& panel) { return !request.wants_panel(panel.id); });
  for (auto& panel : shown.panels) {
    std::map<std::string, std::string> groups;
    for (const auto& [at, group] : row_groups(source.spec)) {
      if (at.first == panel.id) groups[at.second] = group;
    }
    std::erase_if(panel.rows, [&](const auto& row) {
      const auto group = groups.find(row.id);
      return !request.wants_row(row.id, group == groups.end() ? "" : group->second);
    });
    for (std::size_t c = panel.columns.size(); c-- > 0;) {
      if (request.wants_epsilon(panel.columns[c])) continue;
      panel.columns.erase(panel.columns.begin() + static_cast<std::ptrdiff_t>(c));
      for (auto& row : panel.rows) row.cells.erase(row.cells.begin() + static_cast<std::ptrdiff_t>(c));
    }
  }
  std::erase_if(shown.panels,
                [](const PanelModel& panel) { return panel.columns.empty() || panel.rows.empty(); });
  return shown;
}

// Replaces accuracies by the reported runs' last test losses, or by a setting of theirs.
Result<void> put_others(const Source& source, const results::FigureRequest& request,
                        const std::string& of_setting, TableModel& shown) {
  const auto list = runs_of(source, request, Which::reported, of_setting.empty() ? "loss" : "");
  if (!list) return list.error();
  std::map<std::tuple<std::string, std::string, std::optional<double>>, std::vector<double>> others;
  for (const auto& run : list->runs) {
    const auto value = of_setting.empty() ? std::optional(run.last()) : setting(run, of_setting);
    if (value) others[{run.panel, run.row, run.epsilon}].push_back(*value);
  }
  for (auto& panel : shown.panels) {
    for (auto& row : panel.rows) {
      for (auto& cell : row.cells) {
        const auto found = others.find({panel.id, row.id, cell.epsilon_target});
        if (found == others.end()) {
          cell.kind = CellModel::Kind::open;
          continue;
        }
        cell.kind = CellModel::Kind::value;
        cell.mean = results::mean(found->second);
        cell.sd = results::sample_sd(found->second);
      }
    }
  }
  return {};
}

}  // namespace

Result<Outcome> accuracy_kind(const Source& source, const results::FigureRequest& request) {
  auto shown = shown_of(source, request);
  AccuracyLook look;
  const auto options = read_options<results::AccuracyOptions>(request.options);
  const auto& of_setting = options.setting;
  if (!of_setting.empty()) {
    const auto label = setting_label(of_setting);
    look = {.name = {}, .title = label + " of the reported runs against ε", .metric = label, .unit = ""};
  } else if (options.shown.metric == "loss") {
    look = {.name = {}, .title = "Test loss against ε", .metric = "Test loss", .unit = "nats"};
  }
  if (look.unit != "%") {
    if (auto put = put_others(source, request, of_setting, shown); !put) return put.error();
  }
  look.name = request.name;
  look.look = request.look;
  look.box_width = request.box_width.value_or(look.box_width);
  look.box_height = request.box_height.value_or(look.box_height);
  if (!request.title.empty()) look.title = request.title;
  auto figure = accuracy_figure(shown, RowStyles(source.table), look);
  if (!figure) return Outcome{.why = "no cell of these rows has a value yet"};
  return Outcome{.figure = std::move(figure)};
}

}  // namespace hyfreedp::plots
