#include "results/table/panel_text.h"

#include <fmt/format.h>
#include <map>

#include "datasets/facts.h"
#include "datasets/image_options.h"
#include "datasets/notes/weights_notes.h"
#include "harness/base/text.h"
#include "harness/models/facts/weights_source.h"
#include "results/table/footnotes.h"

namespace hyfreedp::results {
namespace {

// True if these are records of a user's own files.
bool is_own(const trial::Named& dataset) {
  const auto facts = datasets::find_dataset(dataset.name);
  return facts && (**facts).own_records;
}

}  // namespace

bool has_own_test(const spec::Panel& panel) { return panel.test > 0 && is_own(panel.dataset); }

bool has_own_records(const trial::OodTest& shifted) { return is_own(shifted.dataset); }

std::string split_of(const spec::Panel& panel) {
  const char* kind =
      read_options<datasets::OpenOptions>(panel.dataset.options).is_public ? "declared public" : "private";
  std::vector<std::string> parts{fmt::format("{} {} training", panel.population, kind)};
  if (panel.validation > 0) parts.push_back(fmt::format("{} {} validation", panel.validation, kind));
  if (panel.test > 0)
    parts.push_back(fmt::format("{} {}test", panel.test, has_own_test(panel) ? "" : "public "));
  return join(parts, ", ") + " records";
}

std::string settings_line(const spec::Panel& panel) {
  std::vector<std::string> parts;
  const auto add = [&](const char* symbol, double value) {
    if (value > 0) parts.push_back(fmt::format("{} = {}", symbol, short_number(value, 8)));
  };
  add("N", static_cast<double>(panel.population));
  add("d", static_cast<double>(panel.dimension));
  add("T", static_cast<double>(panel.train.steps));
  add("q", panel.train.sample_rate);
  if (panel.delta > 0) parts.push_back("δ = " + short_number(panel.delta));
  return join(parts, ", ");
}

std::string optimizers_text(const std::string& usual,
                            const std::vector<std::pair<std::string, std::string>>& rows) {
  std::vector<std::string> names;
  std::map<std::string, std::vector<std::string>> titles;
  for (const auto& [title, name] : rows) {
    if (name.empty()) continue;
    add_once(names, name);
    add_once(titles[name], title);
  }
  if (names.empty()) return usual.empty() ? "" : "optimizer " + usual;
  const auto& first = titles.contains(usual) ? usual : names.front();
  std::vector<std::string> others;
  for (const auto& name : names) {
    if (name != first) others.push_back(join(titles[name], ", ") + ": " + name);
  }
  return others.empty() ? "optimizer " + first : fmt::format("optimizer {} ({})", first, join(others, "; "));
}

std::string ood_test_text(const trial::OodTest& shifted) {
  const auto& [id, dataset] = shifted;
  const auto facts = datasets::find_dataset(dataset.name);
  const auto count =
      facts ? fmt::format("{} records", datasets::sizes(**facts, dataset.options).test) : "records";
  return fmt::format("{}: {} of {}", id, count, datasets::data_name(dataset.name, dataset.options));
}

std::vector<std::string> overlap_notes(const spec::Panel& panel) {
  std::vector<std::string> notes;
  const auto add = [&](const trial::Named& dataset, const auto& note_of) {
    const auto facts = datasets::find_dataset(dataset.name);
    for (const auto* options : {&panel.model.options, &dataset.options}) {
      auto note = facts ? note_of(**facts, models::weights_named(*options)) : "";
      if (!note.empty()) notes.push_back(std::move(note));
    }
  };
  add(panel.dataset, datasets::overlap_note);
  for (const auto& shifted : panel.ood_test) add(shifted.dataset, datasets::seen_test_note);
  return notes;
}

}  // namespace hyfreedp::results
