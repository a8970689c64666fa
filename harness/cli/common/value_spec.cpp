#include "harness/cli/common/value_spec.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "harness/analytic/analytic.h"
#include "harness/analytic/paper_values.h"
#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/cli/common/outputs.h"
#include "harness/spec/paper.h"
#include "plots/curves_figure.h"
#include "plots/figures.h"
#include "plots/gnuplot.h"

namespace hyfreedp::cli {
namespace {

using Labels = std::vector<std::string>;

constexpr const char* kSource = "spec.json";

std::size_t place_of(std::vector<Labels>& known, const Labels& one) {
  const auto found = std::find(known.begin(), known.end(), one);
  if (found != known.end()) return static_cast<std::size_t>(found - known.begin());
  known.push_back(one);
  return known.size() - 1;
}

results::ValueCell printed(const spec::PaperCell& cell, const std::string& unit) {
  results::ValueCell value;
  if (cell.value.is_null()) {
    value.text = "–";
    return value;
  }
  value.paper = cell.number();
  if (!value.paper) {
    value.text = spec::labels_of({cell.value}).front();
    return value;
  }
  value.decimals = analytic::decimals_of(*value.paper);
  if (cell.sd) {
    value.paper_sd = cell.sd;
    value.decimals = std::max(value.decimals, analytic::decimals_of(*cell.sd));
  }
  // If the cells have different units, each says its own.
  if (unit.empty() && !cell.unit.empty()) {
    value.text = fmt::format("{:.{}f} {}", *value.paper, value.decimals, cell.unit);
    value.paper.reset();
  }
  return value;
}

std::string common_unit(const std::vector<spec::PaperCell>& cells) {
  for (const auto& cell : cells) {
    if (cell.unit != cells.front().unit) return "";
  }
  return cells.empty() ? "" : cells.front().unit;
}

void add_footnotes(const spec::Spec& spec, results::ValueTable& table) {
  if (spec.not_runnable) table.footnotes.push_back(not_runnable_text(*spec.not_runnable));
  for (const auto& text : spec.assumed) table.footnotes.push_back("Assumed: " + text);
  for (const auto& text : spec.contradictions)
    table.footnotes.push_back("Of the paper's own values: " + text);
}

// A number in JSON has lost its final zeros: a column was printed with as many decimals as its most
// precise cell.
void align_decimals(results::ValueTable& table) {
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    int most = 0;
    for (const auto& row : table.rows) {
      if (row.cells[column].paper) most = std::max(most, row.cells[column].decimals);
    }
    for (auto& row : table.rows) {
      if (row.cells[column].paper) row.cells[column].decimals = most;
    }
  }
}

void fill_cells(const spec::PaperTable& paper, results::ValueTable& table) {
  const auto& cells = paper.cells;
  table.unit = common_unit(cells);
  table.row_fields = spec::labels_of(paper.row_fields);
  std::vector<Labels> rows;
  std::vector<Labels> columns;
  for (const auto& cell : cells) {
    place_of(rows, spec::labels_of(cell.row));
    place_of(columns, spec::labels_of(cell.columns));
  }
  for (const auto& column : columns) table.columns.push_back(join(column, ", "));
  results::ValueCell absent;
  absent.text = "–";
  for (const auto& row : rows) {
    table.rows.push_back({row, std::vector<results::ValueCell>(columns.size(), absent)});
  }
  for (const auto& cell : cells) {
    const auto row = place_of(rows, spec::labels_of(cell.row));
    const auto column = place_of(columns, spec::labels_of(cell.columns));
    table.rows[row].cells[column] = printed(cell, table.unit);
  }
  align_decimals(table);
  if (!paper.note.empty()) table.notes.push_back(paper.note);
}

Result<json::value> values_beside(const std::string& spec_path) {
  const auto path = std::filesystem::path(spec_path).parent_path() / "values.json";
  if (!std::filesystem::exists(path)) return json::value(nullptr);
  return read_json_file(path.string());
}

}  // namespace

std::string not_runnable_text(const spec::NotRunnable& not_runnable) {
  std::vector<std::string> parts;
  const auto add = [&](const char* words, const std::optional<std::vector<std::string>>& names) {
    if (names && !names->empty()) parts.push_back(words + join(*names, ", "));
  };
  add("data sets ", not_runnable.datasets);
  add("models ", not_runnable.models);
  add("pretrained weights ", not_runnable.weights);
  add("", not_runnable.missing);
  auto reason = not_runnable.reason;
  if (!reason.empty() && reason.back() != '.') reason += '.';
  return fmt::format("It cannot be run here: {} Not here: {}.", reason, join(parts, "; "));
}

std::string no_rows_text(const std::string& name) {
  return fmt::format(
      "{} trains nothing, so the database has no rows of it; hyfreedp run and hyfreedp table take its file.",
      name);
}

Result<results::ValueTable> paper_values_alone(const spec::Spec& spec) {
  results::ValueTable table;
  table.name = "table";
  table.title = spec.title;
  table.description = "The paper's values alone: nothing here was run.";
  if (!spec.paper_table.empty()) {
    const auto paper = spec::PaperTable::from_json(spec.paper_table, "paper_table");
    if (!paper) return paper.error();
    fill_cells(*paper, table);
  } else {
    table.row_fields = {"figure"};
    table.columns = {"printed numbers"};
    results::ValueCell none;
    none.text = "none in the text";
    table.rows.push_back({{spec.reproduces ? spec.reproduces->id : ""}, {none}});
  }
  add_footnotes(spec, table);
  return table;
}

Result<ValueSpec> value_spec(const runner::Spec& spec) {
  const auto& asked = spec.content.analytic;
  if (!asked) {
    auto alone = paper_values_alone(spec.content);
    if (!alone) return alone.error();
    return ValueSpec{std::move(*alone), {}};
  }
  const auto values = values_beside(spec.path);
  if (!values) return values.error();
  auto computed = analytic::compute(asked->name, asked->options, *values, spec.path);
  if (!computed) return computed.error();
  add_footnotes(spec.content, computed->table);
  return ValueSpec{std::move(computed->table), std::move(computed->figures)};
}

Result<std::optional<runner::Spec>> value_spec_by_name(const std::string& folder) {
  const auto path = folder + "/" + kSource;
  if (!std::filesystem::exists(path)) return std::optional<runner::Spec>{};
  const auto source = read_json_file(path);
  if (!source) return source.error();
  if (!source->is_object()) return error(path + ": must be a JSON object. Run the spec's file again.");
  const auto file = string_or(source->get_object(), "file", "");
  std::vector<std::string> settings;
  if (const auto* kept = source->get_object().if_contains("set")) {
    auto read = from_json<std::vector<std::string>>(*kept, path + ": 'set'");
    if (!read) return read.error();
    settings = std::move(*read);
  }
  auto spec = runner::load_spec(file, string_or(source->get_object(), "preset", ""), settings);
  if (!spec)
    return in_context(fmt::format("{} says that these tables came from {}", path, file), spec.error());
  return std::optional<runner::Spec>(std::move(*spec));
}

Result<void> write_value_spec(const ValueSpec& values, const runner::Spec& spec, const std::string& folder,
                              std::ostream& out) {
  auto paths = write_table_files(values.table, folder, "table");
  if (!paths) return paths.error();
  const json::object source{{"file", std::filesystem::absolute(spec.path).lexically_normal().string()},
                            {"preset", spec.content.preset},
                            {"set", as_json(spec.settings)}};
  if (auto kept = write_file_atomically(folder + "/" + kSource, pretty_json(source)); !kept)
    return kept.error();
  if (!values.figures.empty() && find_program("gnuplot")) {
    std::vector<plots::Figure> figures;
    for (const auto& figure : values.figures) figures.push_back(plots::curves_figure(figure));
    const auto drawn = plots::draw(figures, folder + "/plots");
    if (!drawn) return drawn.error();
    for (const auto& one : *drawn) paths->insert(paths->end(), {one.svg, one.png});
  }
  for (const auto& path : *paths) out << "Written: " << path << '\n';
  if (!values.figures.empty() && !find_program("gnuplot")) out << plots::kNoGnuplot << '\n';
  return {};
}

}  // namespace hyfreedp::cli
