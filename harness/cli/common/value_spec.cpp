#include "harness/cli/common/value_spec.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "harness/analytic/analytic.h"
#include "harness/analytic/paper_values.h"
#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/cli/common/table_format.h"
#include "plots/curves_figure.h"
#include "plots/figures.h"
#include "plots/gnuplot.h"

namespace hyfreedp::cli {
namespace {

using Labels = std::vector<std::string>;

constexpr const char* kSource = "spec.json";

Labels labels(const json::object& object, const char* key) {
  Labels list;
  const auto* array = object.if_contains(key);
  if (array == nullptr || !array->is_array()) return list;
  for (const auto& one : array->get_array()) {
    list.push_back(one.is_string() ? std::string(one.get_string()) : canonical_json(one));
  }
  return list;
}

std::size_t place_of(std::vector<Labels>& known, const Labels& one) {
  const auto found = std::find(known.begin(), known.end(), one);
  if (found != known.end()) return static_cast<std::size_t>(found - known.begin());
  known.push_back(one);
  return known.size() - 1;
}

results::ValueCell printed(const json::object& cell, const std::string& unit) {
  results::ValueCell value;
  const auto* given = cell.if_contains("value");
  if (given == nullptr || given->is_null()) {
    value.text = "–";
    return value;
  }
  if (!given->is_number()) {
    value.text = given->is_string() ? std::string(given->get_string()) : canonical_json(*given);
    return value;
  }
  value.paper = given->to_number<double>();
  value.decimals = analytic::decimals_of(*value.paper);
  if (const auto* sd = cell.if_contains("sd"); sd != nullptr && sd->is_number()) {
    value.paper_sd = sd->to_number<double>();
    value.decimals = std::max(value.decimals, analytic::decimals_of(*value.paper_sd));
  }
  // Where the cells have different units, each says its own.
  const auto own = string_or(cell, "unit", "");
  if (unit.empty() && !own.empty()) {
    value.text = fmt::format("{:.{}f} {}", *value.paper, value.decimals, own);
    value.paper.reset();
  }
  return value;
}

std::string common_unit(const json::array& cells) {
  std::string unit;
  bool first = true;
  for (const auto& cell : cells) {
    const auto own = string_or(cell.as_object(), "unit", "");
    if (!first && own != unit) return "";
    unit = own;
    first = false;
  }
  return unit;
}

void add_footnotes(const json::object& resolved, results::ValueTable& table) {
  if (const auto* reason = resolved.if_contains("not_runnable")) {
    table.footnotes.push_back(not_runnable_text(reason->as_object()));
  }
  for (const auto& [key, lead] :
       {std::pair{"assumed", "Assumed: "}, std::pair{"contradictions", "Of the paper's own values: "}}) {
    for (const auto& text : labels(resolved, key)) table.footnotes.push_back(lead + text);
  }
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

void fill_cells(const json::object& paper, results::ValueTable& table) {
  const auto& cells = paper.at("cells").as_array();
  table.unit = common_unit(cells);
  table.row_fields = labels(paper, "row_fields");
  std::vector<Labels> rows;
  std::vector<Labels> columns;
  for (const auto& cell : cells) {
    place_of(rows, labels(cell.as_object(), "row"));
    place_of(columns, labels(cell.as_object(), "columns"));
  }
  for (const auto& column : columns) table.columns.push_back(join(column, ", "));
  results::ValueCell absent;
  absent.text = "–";
  for (const auto& row : rows) {
    table.rows.push_back({row, std::vector<results::ValueCell>(columns.size(), absent)});
  }
  for (const auto& one : cells) {
    const auto& cell = one.as_object();
    const auto row = place_of(rows, labels(cell, "row"));
    const auto column = place_of(columns, labels(cell, "columns"));
    table.rows[row].cells[column] = printed(cell, table.unit);
  }
  align_decimals(table);
  if (const auto note = string_or(paper, "note", ""); !note.empty()) table.notes.push_back(note);
}

Result<json::value> values_beside(const std::string& spec_path) {
  const auto path = std::filesystem::path(spec_path).parent_path() / "values.json";
  if (!std::filesystem::exists(path)) return json::value(nullptr);
  return read_json_file(path.string());
}

}  // namespace

std::string not_runnable_text(const json::object& not_runnable) {
  std::vector<std::string> parts;
  for (const auto& [key, words] : {std::pair{"datasets", "data sets "}, std::pair{"models", "models "},
                                   std::pair{"weights", "pretrained weights "}, std::pair{"missing", ""}}) {
    const auto names = labels(not_runnable, key);
    if (!names.empty()) parts.push_back(words + join(names, ", "));
  }
  auto reason = string_or(not_runnable, "reason", "");
  if (!reason.empty() && reason.back() != '.') reason += '.';
  return fmt::format("It cannot be run here: {} Not here: {}.", reason, join(parts, "; "));
}

std::string no_rows_text(const std::string& name) {
  return fmt::format(
      "{} trains nothing, so the database has no rows of it; hyfreedp run and hyfreedp table take its file.",
      name);
}

results::ValueTable paper_values_alone(const json::object& resolved) {
  results::ValueTable table;
  table.name = "table";
  table.title = string_or(resolved, "title", "");
  table.description = "The paper's values alone: nothing here was run.";
  std::string id;
  if (const auto* reproduces = resolved.if_contains("reproduces")) {
    id = string_or(reproduces->as_object(), "id", "");
  }
  if (const auto* paper = resolved.if_contains("paper_table")) {
    fill_cells(paper->as_object(), table);
  } else {
    table.row_fields = {"figure"};
    table.columns = {"printed numbers"};
    results::ValueCell none;
    none.text = "none in the text";
    table.rows.push_back({{id}, {none}});
  }
  add_footnotes(resolved, table);
  return table;
}

Result<ValueSpec> value_spec(const runner::Spec& spec) {
  const auto* analytic = spec.resolved.if_contains("analytic");
  if (analytic == nullptr) return ValueSpec{paper_values_alone(spec.resolved), {}};
  const auto values = values_beside(spec.path);
  if (!values) return values.error();
  const auto& asked = analytic->as_object();
  auto computed =
      analytic::compute(string_or(asked, "name", ""), asked.at("options").as_object(), *values, spec.path);
  if (!computed) return computed.error();
  add_footnotes(spec.resolved, computed->table);
  return ValueSpec{std::move(computed->table), std::move(computed->figures)};
}

Result<std::optional<runner::Spec>> value_spec_by_name(const std::string& folder) {
  const auto path = folder + "/" + kSource;
  if (!std::filesystem::exists(path)) return std::optional<runner::Spec>{};
  const auto source = read_json_file(path);
  if (!source) return source.error();
  if (!source->is_object()) return error(path + ": must be a JSON object. Run the spec's file again.");
  const auto file = string_or(source->get_object(), "file", "");
  auto spec = runner::load_spec(file, string_or(source->get_object(), "preset", ""));
  if (!spec)
    return in_context(fmt::format("{} says that these tables came from {}", path, file), spec.error());
  return std::optional<runner::Spec>(std::move(*spec));
}

Result<void> write_value_spec(const ValueSpec& values, const runner::Spec& spec, const std::string& folder,
                              std::ostream& out) {
  auto paths = write_table_files(values.table, folder, "table");
  if (!paths) return paths.error();
  const json::object source{{"file", std::filesystem::absolute(spec.path).lexically_normal().string()},
                            {"preset", string_or(spec.resolved, "preset", "")}};
  if (auto kept = write_file_atomically(folder + "/" + kSource, pretty_json(source)); !kept)
    return kept.error();
  if (!values.figures.empty() && plots::find_program("gnuplot")) {
    std::vector<plots::Figure> figures;
    for (const auto& figure : values.figures) figures.push_back(plots::curves_figure(figure));
    const auto drawn = plots::draw(figures, folder + "/plots");
    if (!drawn) return drawn.error();
    for (const auto& one : *drawn) paths->insert(paths->end(), {one.svg, one.png});
  }
  for (const auto& path : *paths) out << "Written: " << path << '\n';
  if (!values.figures.empty() && !plots::find_program("gnuplot")) out << plots::kNoGnuplot << '\n';
  return {};
}

}  // namespace hyfreedp::cli
