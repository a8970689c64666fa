#include "harness/runner/spec/spec_paper.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <set>

#include "harness/base/text.h"

namespace hyfreedp::runner {
namespace {

std::vector<std::string> ids_of(const std::vector<spec::PaperTable>& tables) {
  std::vector<std::string> ids;
  ids.reserve(tables.size());
  for (const auto& one : tables) ids.push_back(one.id);
  return ids;
}

Result<std::vector<std::string>> labels_of(const Entry& entry) {
  const auto list = entry.list();
  if (!list) return list.error();
  std::vector<std::string> labels;
  for (const auto& one : *list) {
    const auto text = one.text();
    if (!text) return text.error();
    labels.push_back(*text);
  }
  return labels;
}

void fill(std::vector<std::string>& labels, const std::string& name, const std::string& value) {
  for (auto& label : labels) {
    for (auto at = label.find(name); at != std::string::npos; at = label.find(name, at + value.size())) {
      label.replace(at, name.size(), value);
    }
  }
}

bool mentions(const std::vector<std::string>& labels, const std::string& name) {
  return std::any_of(labels.begin(), labels.end(),
                     [&](const std::string& label) { return label.find(name) != std::string::npos; });
}

// All that is printed of a cell; none where there is no such cell or it is empty.
std::optional<json::object> cell_at(const PaperPlace& place) {
  for (const auto* table : place.tables) {
    for (const auto& cell : table->cells) {
      if (spec::labels_of(cell.row) != place.row || spec::labels_of(cell.columns) != place.columns) continue;
      if (cell.value.is_null()) return std::nullopt;
      return cell.printed;
    }
  }
  return std::nullopt;
}

// Says why no cell of a row matches: a label that the tables do not have, with the nearest they
// have; else that the labels do not occur together.
std::string why_no_cell(const PaperPlace& asked) {
  for (const auto& [of_cell, labels] :
       {std::pair{&spec::PaperCell::row, asked.row}, std::pair{&spec::PaperCell::columns, asked.columns}}) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      std::set<std::string> there;
      for (const auto* table : asked.tables) {
        for (const auto& cell : table->cells) {
          const auto known = spec::labels_of(cell.*of_cell);
          if (i < known.size()) there.insert(known[i]);
        }
      }
      if (there.count(labels[i]) > 0) continue;
      const std::vector<std::string> known(there.begin(), there.end());
      return fmt::format("matches no cell of the paper: '{}'.{} Labels there: {}", labels[i],
                         did_you_mean(labels[i], known), known.empty() ? "none" : join(known, ", "));
    }
  }
  return fmt::format("matches no cell of the paper: no row '{}' has a column '{}'", join(asked.row, " / "),
                     join(asked.columns, " / "));
}

}  // namespace

std::optional<PaperValues> PaperValues::read(const Entry& reproduces, Problems& problems) {
  static const std::vector<std::string> kKeys = {"paper", "id"};
  const auto before = problems.added();
  if (!reproduces.check_keys(&kKeys, problems)) return std::nullopt;
  PaperValues paper;
  for (const auto& [key, target] :
       {std::pair{"paper", &paper.reproduces_.paper}, std::pair{"id", &paper.reproduces_.id}}) {
    if (const auto entry = reproduces.find(key)) {
      *target = problems.take(entry->text()).value_or("");
    } else {
      reproduces.need(key, problems);
    }
  }
  if (problems.added() > before) return std::nullopt;
  const auto path = (std::filesystem::path(reproduces.file()).parent_path() / "values.json").string();
  const auto values = read_json_file(path);
  if (!values) {
    problems.add(reproduces.wrong(values.error()));
    return std::nullopt;
  }
  if (!values->is_object()) {
    problems.add(reproduces.wrong(path + " must be a JSON object with the paper's tables", ""));
    return std::nullopt;
  }
  auto file = problems.take(from_json<spec::PaperFile>(*values, path));
  if (!file) return std::nullopt;
  paper.values_ = std::move(*file);

  const auto id_entry = *reproduces.find("id");
  const auto& id = paper.reproduces_.id;
  const auto blank = id.find(' ');
  const auto kind = id.substr(0, blank);
  if ((kind != "table" && kind != "figure") || blank == std::string::npos) {
    problems.add(id_entry.wrong(fmt::format("must be 'table N' or 'figure N', not '{}'", id)));
    return std::nullopt;
  }
  const auto number = id.substr(blank + 1);
  const auto& there = kind == "table" ? paper.values_.tables : paper.values_.figures;
  const auto known = ids_of(there);
  if (std::find(known.begin(), known.end(), number) == known.end()) {
    problems.add(
        id_entry.wrong(fmt::format("is not in {}: '{}'.{} There: {}", path, id, did_you_mean(number, known),
                                   known.empty() ? "none" : join(known, ", ")),
                       ""));
    return std::nullopt;
  }
  for (const auto& one : there) {
    if (one.id == number && !one.cells.empty()) paper.table_ = &one;
  }
  return paper;
}

Result<const spec::PaperTable*> PaperValues::find_table(const std::string& id, const Entry& place) const {
  for (const auto& one : values_.tables) {
    if (one.id == id) return &one;
  }
  const auto known = ids_of(values_.tables);
  return place.wrong(fmt::format("is no table of the paper: '{}'.{} Tables: {}", id, did_you_mean(id, known),
                                 known.empty() ? "none" : join(known, ", ")));
}

std::optional<PaperPlace> read_paper_place(const Entry& place, const PaperValues& values,
                                           Problems& problems) {
  static const std::vector<std::string> kKeys = {"table", "row", "columns"};
  const auto before = problems.added();
  if (!place.check_keys(&kKeys, problems)) return std::nullopt;
  PaperPlace read;
  if (const auto given = place.find("table")) {
    std::vector<Entry> ids{*given};
    if (given->is_list()) ids = given->list().value();
    for (const auto& one : ids) {
      const auto id = problems.take(one.text());
      if (!id) continue;
      if (const auto table = problems.take(values.find_table(*id, one))) read.tables.push_back(*table);
    }
  } else if (values.table() != nullptr) {
    read.tables.push_back(values.table());
  }
  if (read.tables.empty() && problems.added() == before) {
    problems.add(place.wrong("needs 'table': the spec reproduces a figure"));
  }
  for (const auto& [key, labels] : {std::pair{"row", &read.row}, std::pair{"columns", &read.columns}}) {
    if (const auto entry = place.find(key)) {
      *labels = problems.take(labels_of(*entry)).value_or(std::vector<std::string>{});
    } else {
      place.need(key, problems);
    }
  }
  if (problems.added() > before) return std::nullopt;
  return read;
}

std::optional<std::map<std::string, json::object>> paper_cells(const Entry& row_paper,
                                                               const PaperPlace& panel,
                                                               const std::vector<double>& epsilons,
                                                               Problems& problems) {
  auto place = panel;
  if (row_paper.is_map()) {
    static const std::vector<std::string> kKeys = {"row", "columns"};
    const auto before = problems.added();
    row_paper.check_keys(&kKeys, problems);
    for (const auto& [key, labels] : {std::pair{"row", &place.row}, std::pair{"columns", &place.columns}}) {
      const auto entry = row_paper.find(key);
      if (!entry) continue;
      *labels = problems.take(labels_of(*entry)).value_or(std::vector<std::string>{});
    }
    if (problems.added() > before) return std::nullopt;
  } else {
    const auto text = problems.take(row_paper.written());
    if (!text) return std::nullopt;
    const bool filled = mentions(place.row, "{row}") || mentions(place.columns, "{row}");
    if (filled == (*text == "true")) {
      problems.add(row_paper.wrong(filled ? "must be the label that stands for {row} of the panel's 'paper'"
                                          : "must be true: the panel's 'paper' has no {row}"));
      return std::nullopt;
    }
    fill(place.row, "{row}", *text);
    fill(place.columns, "{row}", *text);
  }
  std::map<std::string, json::object> cells;
  PaperPlace asked;
  for (const auto& epsilon : epsilons) {
    asked = place;
    fill(asked.row, "{epsilon}", spec::epsilon_text(epsilon));
    fill(asked.columns, "{epsilon}", spec::epsilon_text(epsilon));
    if (auto cell = cell_at(asked)) cells[spec::epsilon_text(epsilon)] = std::move(*cell);
  }
  if (!cells.empty()) return cells;
  // Said of the first: the epsilon is the last label to doubt.
  problems.add(row_paper.wrong(why_no_cell(asked)));
  return std::nullopt;
}

}  // namespace hyfreedp::runner
