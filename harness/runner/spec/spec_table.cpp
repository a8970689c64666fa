#include "harness/runner/spec/spec_table.h"

#include <algorithm>
#include <fmt/format.h>

#include "datasets/facts.h"
#include "harness/base/text.h"
#include "results/table/table_options.h"

namespace hyfreedp::runner {
namespace {

void check_table_name(const Entry& table, const std::string& key, const std::string& name,
                      const std::vector<std::string>& names, Problems& problems) {
  if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) return;
  problems.add(table.find(key)->wrong(
      fmt::format("names no row that the table shows: '{}'.{}", name, did_you_mean(name, names))));
}

bool folds(const std::optional<spec::FoldedGroups>& groups) {
  return groups.value_or(spec::FoldedGroups::all) != spec::FoldedGroups::all;
}

// Returns the rows and groups that a table may show. A folded group stands in place of its rows. A
// panel's own table may fold groups that the spec's does not.
std::vector<std::string> shown_rows(const spec::Table& options, const std::vector<spec::Panel>& panels) {
  std::vector<std::string> names;
  for (const auto& panel : panels) {
    const bool may_fold = folds(options.groups) || (panel.table && folds(panel.table->groups));
    for (const auto& row : panel.rows) {
      if (row.group.empty() || !folds(options.groups)) names.push_back(row.id);
      if (!row.group.empty() && may_fold) names.push_back(row.group);
    }
  }
  return names;
}

// Returns why runs of the panel do not record the metric; empty: they do.
std::string why_not_recorded(spec::Metric metric, const spec::Panel& panel) {
  const auto facts = datasets::find_dataset(panel.dataset.name);
  if (!facts) return "";
  const auto sizes = datasets::sizes(**facts, panel.dataset.options);
  const auto classes = sizes.labels == datasets::LabelKind::classes ? sizes.classes : 0;
  if (metric == spec::Metric::perplexity && sizes.labels != datasets::LabelKind::tokens)
    return fmt::format("is of language models, and panel '{}' has none", panel.id);
  if (metric == spec::Metric::f1 && classes != 2)
    return fmt::format("is of two classes, and the dataset of panel '{}' has not two", panel.id);
  const auto& recorded = panel.evaluate.recorded;
  const auto by = spec::recorded_by(metric);
  const bool lacks = (by == spec::RecordedBy::by_class && !recorded.by_class) ||
                     (by == spec::RecordedBy::written && !recorded.written);
  if (!lacks) return "";
  return fmt::format("is of what `evaluate: {{{}}}` records, which panel '{}' does not ask for",
                     results::asked_of_evaluate(metric), panel.id);
}

// Some metrics are of what a run records only where it is asked to.
void check_metrics(const Entry& table, const spec::Table& options, const std::vector<spec::Panel>& panels,
                   Problems& problems) {
  const auto check = [&](const char* key, spec::Metric metric) {
    for (const auto& panel : panels) {
      const auto why = why_not_recorded(metric, panel);
      if (why.empty()) continue;
      const auto names = std::string_view(key) == "also" ? "names " + name_of(metric) + ", which " : "";
      problems.add(table.find(key)->wrong(names + why, ""));
      return;
    }
  };
  if (options.metric) check("metric", *options.metric);
  for (const auto metric : options.also.value_or(std::vector<spec::Metric>())) check("also", metric);
}

// A list of words, each once; one alone need not be in brackets.
template <class E>
std::optional<std::vector<E>> read_words(const Entry& entry, Problems& problems) {
  const auto before = problems.added();
  std::vector<Entry> entries{entry};
  if (entry.is_list()) entries = entry.list().value();
  std::vector<E> words;
  for (const auto& one : entries) {
    const auto text = problems.take(one.text());
    if (!text) continue;
    const auto names = names_of<E>();
    if (std::ranges::find(names, *text) == names.end()) {
      problems.add(one.wrong(
          fmt::format("must be one of {}, not '{}'.{}", join(names, ", "), *text, did_you_mean(*text, names)),
          ""));
      continue;
    }
    const auto word = enum_from<E>(*text, "").value();
    if (std::ranges::count(words, word) > 0)
      problems.add(one.wrong(fmt::format("names '{}' twice", *text), ""));
    words.push_back(word);
  }
  if (problems.added() > before) return std::nullopt;
  return words;
}

std::optional<std::map<std::string, std::string>> read_labels(const Entry& entry, Problems& problems) {
  const auto before = problems.added();
  if (!entry.check_keys(nullptr, problems)) return std::nullopt;
  std::map<std::string, std::string> labels;
  for (const auto& id : entry.keys()) {
    const auto given = entry.find(id);
    const auto text = problems.take(given->text());
    if (!text) continue;
    if (text->empty()) problems.add(given->wrong("is empty; a title needs at least a letter", ""));
    labels[id] = *text;
  }
  if (problems.added() > before) return std::nullopt;
  return labels;
}

}  // namespace

std::optional<spec::Table> read_table_options(const Entry& table, Problems& problems) {
  const auto before = problems.added();
  auto options = read_options<spec::Table>(results::table_options(), Layers({table}), problems,
                                           {"also", "rerr", "columns", "cells", "labels"});
  if (options) {
    if (const auto given = table.find("also")) options->also = read_words<spec::Metric>(*given, problems);
    if (const auto given = table.find("columns"))
      options->columns = read_words<spec::TableColumn>(*given, problems);
    if (const auto given = table.find("cells")) options->cells = read_words<spec::CellPart>(*given, problems);
    if (const auto given = table.find("labels")) options->labels = read_labels(*given, problems);
  }
  if (const auto given = table.find("rerr")) {
    const auto rows = read_options<spec::Rerr>(results::rerr_options(), Layers({*given}), problems);
    if (!rows) return std::nullopt;
    if (options) options->rerr = *rows;
  }
  if (!options || problems.added() > before) return std::nullopt;
  if (!problems.take(results::table_settings(*options, table.where()))) return std::nullopt;
  if (!problems.take(results::table_look(*options, table.where()))) return std::nullopt;
  return options;
}

void check_table_rows(const Entry& table, const spec::Table& options, const std::vector<spec::Panel>& panels,
                      Problems& problems) {
  const auto names = shown_rows(options, panels);
  check_metrics(table, options, panels, problems);
  check_table_name(table, "relative_to", options.relative_to.value_or(""), names, problems);
  if (options.labels) {
    std::vector<std::string> known;
    for (const auto& panel : panels) {
      for (const auto& row : panel.rows) known.push_back(row.id);
      known.push_back(panel.id);
    }
    for (const auto& [id, title] : *options.labels) {
      if (std::ranges::find(known, id) != known.end()) continue;
      problems.add(table.find("labels")->wrong(
          fmt::format("names no row or panel: '{}'.{}", id, did_you_mean(id, known)), ""));
    }
  }
  if (!options.rerr) return;
  check_table_name(*table.find("rerr"), "random", options.rerr->random, names, problems);
  check_table_name(*table.find("rerr"), "oracle", options.rerr->oracle, names, problems);
}

}  // namespace hyfreedp::runner
