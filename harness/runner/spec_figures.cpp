#include "harness/runner/spec_figures.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "harness/base/text.h"
#include "harness/runner/spec.h"
#include "results/figure_spec.h"

namespace hyfreedp::runner {
namespace {

const std::vector<std::string> kFigureKeys = {"kind", "name", "title", "rows", "panels", "epsilons"};

// What a figure may name.
struct Names {
  std::vector<std::string> rows;  // ids and groups
  std::vector<std::string> panels;
};

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

Names names_of(const json::array& panels) {
  Names names;
  for (const auto& panel : panels) {
    add_once(names.panels, string_or(panel.as_object(), "id", ""));
    for (const auto& row : panel.at("rows").as_array()) {
      add_once(names.rows, string_or(row.as_object(), "id", ""));
      add_once(names.rows, string_or(row.as_object(), "group", ""));
    }
  }
  return names;
}

Result<json::array> read_named(const Entry& entry, const char* what, const std::vector<std::string>& known) {
  std::vector<Entry> entries{entry};
  if (entry.is_list()) entries = entry.list().value();
  json::array named;
  for (const auto& one : entries) {
    const auto name = one.text();
    if (!name) return name.error();
    if (std::find(known.begin(), known.end(), *name) == known.end()) {
      return error(fmt::format("{} names no {} of this spec: '{}'.{} Known: {}.", one.where(), what, *name,
                               did_you_mean(*name, known), known.empty() ? "none" : join(known, ", ")));
    }
    named.emplace_back(*name);
  }
  if (named.empty()) return entry.wrong(fmt::format("must name at least one {}; leave it out for all", what));
  return named;
}

Result<json::object> read_figure(const Entry& entry, const Names& names) {
  if (auto checked = entry.check_keys(nullptr); !checked) return checked.error();
  const auto kind_entry = entry.find("kind");
  if (!kind_entry) return entry.wrong("needs 'kind' (see hyfreedp list figures)");
  const auto kind_name = kind_entry->text();
  if (!kind_name) return kind_name.error();
  const auto kind = results::find_figure_kind(*kind_name);
  if (!kind) return in_context(kind_entry->where(), kind.error());
  json::object figure{{"kind", *kind_name}, {"name", *kind_name}};
  if (const auto given = entry.find("name")) {
    const auto name = read_identifier(*given);
    if (!name) return name.error();
    figure["name"] = *name;
  }
  if (const auto given = entry.find("title")) {
    const auto title = given->text();
    if (!title) return title.error();
    figure["title"] = *title;
  }
  if (const auto given = entry.find("rows")) {
    const auto rows = read_named(*given, "row or group", names.rows);
    if (!rows) return rows.error();
    figure["rows"] = *rows;
  }
  if (const auto given = entry.find("panels")) {
    const auto panels = read_named(*given, "panel", names.panels);
    if (!panels) return panels.error();
    figure["panels"] = *panels;
  }
  if (const auto given = entry.find("epsilons")) {
    const auto epsilons = read_epsilons(*given);
    if (!epsilons) return epsilons.error();
    figure["epsilons"] = *epsilons;
  }
  const auto options = options_from((**kind).options, Layers({entry}), kFigureKeys);
  if (!options) return options.error();
  if (const auto given = entry.find("relative_to")) {
    if (auto known = read_named(*given, "row or group", names.rows); !known) return known.error();
  }
  figure["options"] = *options;
  return figure;
}

}  // namespace

Result<json::array> read_figures(const Entry& figures, const json::array& panels) {
  const auto entries = figures.list();
  if (!entries) return entries.error();
  const auto names = names_of(panels);
  json::array resolved;
  std::set<std::string> taken;
  for (const auto& entry : *entries) {
    auto figure = read_figure(entry, names);
    if (!figure) return figure.error();
    const std::string name(figure->at("name").as_string());
    if (!taken.insert(name).second) {
      return (entry.find("name") ? *entry.find("name") : entry)
          .wrong(fmt::format("is a second figure '{}'; give it another 'name'", name));
    }
    resolved.emplace_back(std::move(*figure));
  }
  return resolved;
}

}  // namespace hyfreedp::runner
