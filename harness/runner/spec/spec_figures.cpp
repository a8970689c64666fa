#include "harness/runner/spec/spec_figures.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <tuple>

#include "harness/base/text.h"
#include "harness/runner/spec/spec.h"
#include "results/table/figure_spec.h"

namespace hyfreedp::runner {
namespace {

const std::vector<std::string> kFigureKeys = {"kind",     "name",    "title",   "rows",    "panels",
                                              "epsilons", "size",    "font",    "colours", "font_size",
                                              "x_label",  "y_label", "x_range", "y_range"};
constexpr double kMostInches = 40;
constexpr double kLeastPoints = 4, kMostPoints = 30;

// The names that a figure may use.
struct Names {
  std::vector<std::string> rows;  // ids and groups
  std::vector<std::string> panels;
  std::set<double> epsilons;
  bool are_known = true;
  bool knows_epsilons = true;
};

Names names_of(const std::vector<spec::Panel>* panels) {
  Names names{.are_known = panels != nullptr};
  if (!names.are_known) return names;
  names.rows = spec::row_names(*panels);
  for (const auto& panel : *panels) {
    names.panels.push_back(panel.id);
    names.epsilons.insert(panel.epsilons.begin(), panel.epsilons.end());
    for (const auto& row : panel.rows) names.epsilons.insert(row.epsilons.begin(), row.epsilons.end());
    // The epsilon of fixed noise is computed later.
    names.knows_epsilons = names.knows_epsilons && panel.noise_multipliers.empty();
  }
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

// Two numbers; `what` says which.
std::optional<std::vector<double>> read_pair(const Entry& entry, const char* what, Problems& problems) {
  const auto before = problems.added();
  std::vector<double> numbers;
  const auto entries = entry.list();
  for (const auto& one : entries ? *entries : std::vector<Entry>{}) {
    if (const auto number = problems.take(one.number())) numbers.push_back(*number);
  }
  if (problems.added() > before) return std::nullopt;
  const bool finite = std::ranges::all_of(numbers, [](double number) { return std::isfinite(number); });
  if (numbers.size() == 2 && finite) return numbers;
  problems.add(entry.wrong(fmt::format("must be {}", what), ""));
  return std::nullopt;
}

bool is_colour(const std::string& text) {
  return text.size() == 7 && text[0] == '#' &&
         std::ranges::all_of(text.substr(1), [](unsigned char c) { return std::isxdigit(c) != 0; });
}

void read_colours(const Entry& entry, const std::vector<std::string>* rows, spec::FigureLook& look,
                  Problems& problems) {
  if (!entry.check_keys(nullptr, problems)) return;
  for (const auto& id : entry.keys()) {
    const auto given = *entry.find(id);
    if (rows != nullptr && std::ranges::find(*rows, id) == rows->end()) {
      problems.add(given.wrong(
          fmt::format("is of no row or group of this spec: '{}'.{}", id, did_you_mean(id, *rows)), ""));
    }
    const auto colour = problems.take(given.text());
    if (!colour) continue;
    if (is_colour(*colour)) {
      look.colours[id] = *colour;
    } else {
      problems.add(
          given.wrong(fmt::format("must be a colour such as '#D55E00' (in quotes), not '{}'", *colour), ""));
    }
  }
}

void read_look(const Entry& entry, const results::FigureKind& kind, const std::vector<std::string>* rows,
               spec::FigureLook& look, Problems& problems) {
  if (const auto given = entry.find("size")) {
    const auto size = read_pair(*given, "[width, height] of the whole figure in inches", problems);
    if (size) look.size = *size;
    if (size && !std::ranges::all_of(*size, [](double side) { return side > 0 && side <= kMostInches; }))
      problems.add(given->wrong(fmt::format("must be above 0 and at most {} inches", kMostInches), ""));
  }
  if (const auto given = entry.find("font_size")) {
    look.font_size = problems.take(given->number());
    if (look.font_size && !(*look.font_size >= kLeastPoints && *look.font_size <= kMostPoints))
      problems.add(given->wrong(fmt::format("must be from {} to {} points", kLeastPoints, kMostPoints), ""));
  }
  for (const auto& [key, text] : {std::pair{"font", &look.font}, std::pair{"x_label", &look.x_label},
                                  std::pair{"y_label", &look.y_label}}) {
    if (const auto given = entry.find(key)) *text = problems.take(given->text());
  }
  if (look.font && look.font->find_first_of(",:\"'\\\n") != std::string::npos)
    problems.add(entry.find("font")->wrong("must be the name of a family alone, for example Times", ""));
  for (const auto& [key, axis, range] :
       {std::tuple{"x_range", 'x', &look.x_range}, std::tuple{"y_range", 'y', &look.y_range}}) {
    const auto given = entry.find(key);
    if (!given) continue;
    if (kind.ranges.find(axis) == std::string::npos) {
      problems.add(
          given->wrong(fmt::format("is not for figures of kind '{}', whose {} axis is not a range of "
                                   "numbers that can be cut",
                                   kind.name, axis),
                       ""));
    }
    const auto pair = read_pair(*given, "[from, to]", problems);
    if (pair && (*pair)[0] < (*pair)[1]) *range = *pair;
    if (pair && range->empty()) problems.add(given->wrong("must be [from, to], the smaller first", ""));
  }
  if (const auto given = entry.find("colours")) {
    if (!kind.has_colours) {
      problems.add(given->wrong(
          fmt::format("is not for figures of kind '{}', whose lines are not rows", kind.name), ""));
    }
    read_colours(*given, rows, look, problems);
  }
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
  if (const auto given = entry.find("epsilons")) {
    keep(read_epsilons(*given, problems), figure.epsilons);
    for (const double epsilon : figure.epsilons) {
      if (names.epsilons.empty() || !names.knows_epsilons || names.epsilons.contains(epsilon)) continue;
      std::vector<std::string> known;
      for (const double one : names.epsilons) known.push_back(short_number(one));
      problems.add(given->wrong(fmt::format("names no epsilon of this spec: {}. Known: {}",
                                            short_number(epsilon), join(known, ", ")),
                                ""));
    }
  }
  if (kind != nullptr) {
    read_look(entry, *kind, rows_known, figure.look, problems);
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
