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

Names names_of(const std::vector<spec::Panel>* panels) {
  Names names{.rows = {}, .panels = {}, .are_known = panels != nullptr};
  if (!names.are_known) return names;
  names.rows = spec::row_names(*panels);
  for (const auto& panel : *panels) names.panels.push_back(panel.id);
  return names;
}

// `known`: the names there are; null where that is unknown.
std::optional<std::vector<std::string>> read_named(const Entry& entry, const char* what,
                                                   const std::vector<std::string>* known,
                                                   Problems& problems) {
  const auto before = problems.added();
  std::vector<Entry> entries{entry};
  if (entry.is_list()) entries = entry.list().value();
  std::vector<std::string> named;
  for (const auto& one : entries) {
    const auto name = problems.take(one.text());
    if (!name) continue;
    if (known != nullptr && std::find(known->begin(), known->end(), *name) == known->end()) {
      problems.add(
          one.wrong(fmt::format("names no {} of this spec: '{}'.{} Known: {}", what, *name,
                                did_you_mean(*name, *known), known->empty() ? "none" : join(*known, ", ")),
                    ""));
    }
    named.push_back(*name);
  }
  if (entries.empty()) {
    problems.add(entry.wrong(fmt::format("must name at least one {}; leave it out for all", what)));
  }
  if (problems.added() > before) return std::nullopt;
  return named;
}

std::optional<spec::Figure> read_figure(const Entry& entry, const Names& names, Problems& problems) {
  const auto before = problems.added();
  if (!entry.check_keys(nullptr, problems)) return std::nullopt;
  const auto* rows_known = names.are_known ? &names.rows : nullptr;
  const auto* panels_known = names.are_known ? &names.panels : nullptr;
  spec::Figure figure;
  const results::FigureKind* kind = nullptr;
  if (const auto given = entry.find("kind")) {
    figure.kind = problems.take(given->text()).value_or("");
    const auto found = results::find_figure_kind(figure.kind);
    if (found) kind = *found;
    if (!found && !figure.kind.empty()) problems.add(given->wrong(found.error()));
  } else {
    entry.need("kind", problems);
  }
  figure.name = figure.kind;
  const auto keep = [](auto value, auto& member) {
    if (value) member = std::move(*value);
  };
  if (const auto given = entry.find("name")) keep(problems.take(read_identifier(*given)), figure.name);
  if (const auto given = entry.find("title")) keep(problems.take(given->text()), figure.title);
  if (const auto given = entry.find("rows")) {
    keep(read_named(*given, "row or group", rows_known, problems), figure.rows);
  }
  if (const auto given = entry.find("panels")) {
    keep(read_named(*given, "panel", panels_known, problems), figure.panels);
  }
  if (const auto given = entry.find("epsilons")) keep(read_epsilons(*given, problems), figure.epsilons);
  if (kind != nullptr) {
    keep(options_from(kind->options, Layers({entry}), problems, kFigureKeys), figure.options);
    if (const auto given = entry.find("relative_to")) {
      read_named(*given, "row or group", rows_known, problems);
    }
  }
  if (problems.added() > before) return std::nullopt;
  return figure;
}

}  // namespace

std::optional<std::vector<spec::Figure>> read_figures(const Entry& figures,
                                                      const std::vector<spec::Panel>* panels,
                                                      Problems& problems) {
  const auto before = problems.added();
  const auto entries = problems.take(figures.list());
  if (!entries) return std::nullopt;
  const auto names = names_of(panels);
  std::vector<spec::Figure> resolved;
  std::set<std::string> taken;
  for (const auto& entry : *entries) {
    auto figure = read_figure(entry, names, problems);
    if (!figure) continue;
    if (!taken.insert(figure->name).second) {
      problems.add((entry.find("name") ? *entry.find("name") : entry)
                       .wrong(fmt::format("is a second figure '{}'; give it another 'name'", figure->name)));
    }
    resolved.push_back(std::move(*figure));
  }
  if (problems.added() > before) return std::nullopt;
  return resolved;
}

}  // namespace hyfreedp::runner
