#include "harness/runner/spec/spec_figures.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "harness/base/text.h"
#include "harness/runner/spec/spec.h"
#include "results/table/figure_spec.h"

namespace hyfreedp::runner {
namespace {

const std::vector<std::string> kFigureKeys = {"kind", "name", "title", "rows", "panels", "epsilons"};

// What a figure may name.
struct Names {
  std::vector<std::string> rows;  // ids and groups
  std::vector<std::string> panels;
  bool are_known = true;
};

void add_name_once(std::vector<std::string>& names, const std::string& name) {
  if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

Names names_of(const json::array* panels) {
  Names names{.rows = {}, .panels = {}, .are_known = panels != nullptr};
  if (!names.are_known) return names;
  for (const auto& panel : *panels) {
    add_name_once(names.panels, string_or(panel.as_object(), "id", ""));
    for (const auto& row : panel.at("rows").as_array()) {
      add_name_once(names.rows, string_or(row.as_object(), "id", ""));
      add_name_once(names.rows, string_or(row.as_object(), "group", ""));
    }
  }
  return names;
}

// `known`: the names there are; null where that is unknown.
std::optional<json::array> read_named(const Entry& entry, const char* what,
                                      const std::vector<std::string>* known, Problems& problems) {
  const auto before = problems.added();
  std::vector<Entry> entries{entry};
  if (entry.is_list()) entries = entry.list().value();
  json::array named;
  for (const auto& one : entries) {
    const auto name = problems.take(one.text());
    if (!name) continue;
    if (known != nullptr && std::find(known->begin(), known->end(), *name) == known->end()) {
      problems.add(
          one.wrong(fmt::format("names no {} of this spec: '{}'.{} Known: {}", what, *name,
                                did_you_mean(*name, *known), known->empty() ? "none" : join(*known, ", ")),
                    ""));
    }
    named.emplace_back(*name);
  }
  if (entries.empty()) {
    problems.add(entry.wrong(fmt::format("must name at least one {}; leave it out for all", what)));
  }
  if (problems.added() > before) return std::nullopt;
  return named;
}

std::optional<json::object> read_figure(const Entry& entry, const Names& names, Problems& problems) {
  const auto before = problems.added();
  if (!entry.check_keys(nullptr, problems)) return std::nullopt;
  const auto* rows_known = names.are_known ? &names.rows : nullptr;
  const auto* panels_known = names.are_known ? &names.panels : nullptr;
  json::object figure;
  std::string kind_name;
  const results::FigureKind* kind = nullptr;
  if (const auto given = entry.find("kind")) {
    kind_name = problems.take(given->text()).value_or("");
    const auto found = results::find_figure_kind(kind_name);
    if (found) kind = *found;
    if (!found && !kind_name.empty()) problems.add(given->wrong(found.error()));
  } else {
    entry.need("kind", problems);
  }
  figure["kind"] = kind_name;
  figure["name"] = kind_name;
  const auto keep = [&](const char* key, const auto& value) {
    if (value) figure[key] = *value;
  };
  if (const auto given = entry.find("name")) keep("name", problems.take(read_identifier(*given)));
  if (const auto given = entry.find("title")) keep("title", problems.take(given->text()));
  if (const auto given = entry.find("rows")) {
    keep("rows", read_named(*given, "row or group", rows_known, problems));
  }
  if (const auto given = entry.find("panels")) {
    keep("panels", read_named(*given, "panel", panels_known, problems));
  }
  if (const auto given = entry.find("epsilons")) keep("epsilons", read_epsilons(*given, problems));
  if (kind != nullptr) {
    keep("options", options_from(kind->options, Layers({entry}), problems, kFigureKeys));
    if (const auto given = entry.find("relative_to")) {
      read_named(*given, "row or group", rows_known, problems);
    }
  }
  if (problems.added() > before) return std::nullopt;
  return figure;
}

}  // namespace

std::optional<json::array> read_figures(const Entry& figures, const json::array* panels, Problems& problems) {
  const auto before = problems.added();
  const auto entries = problems.take(figures.list());
  if (!entries) return std::nullopt;
  const auto names = names_of(panels);
  json::array resolved;
  std::set<std::string> taken;
  for (const auto& entry : *entries) {
    auto figure = read_figure(entry, names, problems);
    if (!figure) continue;
    const std::string name(figure->at("name").as_string());
    if (!taken.insert(name).second) {
      problems.add((entry.find("name") ? *entry.find("name") : entry)
                       .wrong(fmt::format("is a second figure '{}'; give it another 'name'", name)));
    }
    resolved.emplace_back(std::move(*figure));
  }
  if (problems.added() > before) return std::nullopt;
  return resolved;
}

}  // namespace hyfreedp::runner
