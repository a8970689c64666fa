#include "harness/runner/spec/spec_paper.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <set>

#include "harness/base/text.h"

namespace hyfreedp::runner {
namespace {

// Ids of `tables` or `figures`.
std::vector<std::string> ids_of(const json::object& values, const char* kind) {
  std::vector<std::string> ids;
  const auto* list = values.if_contains(kind);
  if (list == nullptr || !list->is_array()) return ids;
  for (const auto& one : list->get_array()) {
    if (one.is_object()) ids.push_back(string_or(one.get_object(), "id", ""));
  }
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

std::string epsilon_label(const json::value& epsilon) {
  return epsilon.is_string() ? std::string(epsilon.get_string())
                             : fmt::format("{}", epsilon.to_number<double>());
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

std::vector<std::string> texts(const json::object& object, const char* key) {
  std::vector<std::string> list;
  const auto* array = object.if_contains(key);
  if (array == nullptr || !array->is_array()) return list;
  for (const auto& one : array->get_array()) {
    list.push_back(one.is_string() ? std::string(one.get_string()) : canonical_json(one));
  }
  return list;
}

// The cell, less its labels; none where there is no such cell or it is empty.
std::optional<json::object> cell_at(const PaperPlace& place) {
  for (const auto* table : place.tables) {
    for (const auto& one : table->at("cells").as_array()) {
      const auto& cell = one.as_object();
      if (texts(cell, "row") != place.row || texts(cell, "columns") != place.columns) continue;
      auto kept = cell;
      kept.erase("row");
      kept.erase("columns");
      if (!kept.contains("value") || kept.at("value").is_null()) return std::nullopt;
      return kept;
    }
  }
  return std::nullopt;
}

// Why no cell of a row matches: a label that the tables do not have, with the nearest they have;
// else that the labels do not occur together.
std::string why_no_cell(const PaperPlace& asked) {
  for (const auto& [key, labels] : {std::pair{"row", asked.row}, std::pair{"columns", asked.columns}}) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      std::set<std::string> there;
      for (const auto* table : asked.tables) {
        for (const auto& cell : table->at("cells").as_array()) {
          const auto of_cell = texts(cell.as_object(), key);
          if (i < of_cell.size()) there.insert(of_cell[i]);
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

std::optional<PaperValues> PaperValues::read(const std::string& spec_path, const Entry& reproduces,
                                             Problems& problems) {
  static const std::vector<std::string> kKeys = {"paper", "id"};
  const auto before = problems.added();
  if (!reproduces.check_keys(&kKeys, problems)) return std::nullopt;
  PaperValues paper;
  for (const auto& key : kKeys) {
    if (const auto entry = reproduces.find(key)) {
      paper.reproduces_[key] = problems.take(entry->text()).value_or("");
    } else {
      reproduces.need(key, problems);
    }
  }
  if (problems.added() > before) return std::nullopt;
  const auto path = (std::filesystem::path(spec_path).parent_path() / "values.json").string();
  const auto values = read_json_file(path);
  if (!values) {
    problems.add(reproduces.wrong(values.error()));
    return std::nullopt;
  }
  if (!values->is_object()) {
    problems.add(reproduces.wrong(path + " must be a JSON object with the paper's tables", ""));
    return std::nullopt;
  }
  paper.values_ = values->get_object();

  const auto id_entry = *reproduces.find("id");
  const std::string id(paper.reproduces_.at("id").as_string());
  const auto blank = id.find(' ');
  const auto kind = id.substr(0, blank);
  if ((kind != "table" && kind != "figure") || blank == std::string::npos) {
    problems.add(id_entry.wrong(fmt::format("must be 'table N' or 'figure N', not '{}'", id)));
    return std::nullopt;
  }
  const auto number = id.substr(blank + 1);
  const auto known = ids_of(paper.values_, kind == "table" ? "tables" : "figures");
  if (std::find(known.begin(), known.end(), number) == known.end()) {
    problems.add(
        id_entry.wrong(fmt::format("is not in {}: '{}'.{} There: {}", path, id, did_you_mean(number, known),
                                   known.empty() ? "none" : join(known, ", ")),
                       ""));
    return std::nullopt;
  }
  paper.id_ = number;
  paper.kind_ = kind == "table" ? "tables" : "figures";
  return paper;
}

const json::object* PaperValues::table() const {
  for (const auto& one : values_.at(kind_).as_array()) {
    const auto& object = one.as_object();
    if (string_or(object, "id", "") == id_) return object.contains("cells") ? &object : nullptr;
  }
  return nullptr;
}

Result<const json::object*> PaperValues::find_table(const std::string& id, const Entry& place) const {
  if (const auto* tables = values_.if_contains("tables"); tables != nullptr && tables->is_array()) {
    for (const auto& one : tables->get_array()) {
      if (string_or(one.as_object(), "id", "") == id) return &one.as_object();
    }
  }
  const auto known = ids_of(values_, "tables");
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

std::optional<json::object> paper_cells(const Entry& row_paper, const PaperPlace& panel,
                                        const json::array& epsilons, Problems& problems) {
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
    const auto text = problems.take(row_paper.text());
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
  json::object cells;
  PaperPlace asked;
  for (const auto& epsilon : epsilons) {
    asked = place;
    fill(asked.row, "{epsilon}", epsilon_label(epsilon));
    fill(asked.columns, "{epsilon}", epsilon_label(epsilon));
    if (auto cell = cell_at(asked)) cells[epsilon_label(epsilon)] = std::move(*cell);
  }
  if (!cells.empty()) return cells;
  // Said of the first: the epsilon is the last label to doubt.
  problems.add(row_paper.wrong(why_no_cell(asked)));
  return std::nullopt;
}

}  // namespace hyfreedp::runner
