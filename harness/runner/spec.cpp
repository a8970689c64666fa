#include "harness/runner/spec.h"

#include <fmt/format.h>
#include <set>
#include <string_view>

#include "harness/base/files.h"
#include "harness/runner/plan.h"
#include "harness/runner/spec_figures.h"
#include "harness/runner/spec_kind.h"
#include "harness/runner/spec_presets.h"
#include "harness/runner/spec_regress.h"
#include "harness/runner/spec_table.h"

namespace hyfreedp::runner {
namespace {

const std::vector<std::string> kSpecKeys = {
    "name",    "title",   "description",    "noise_seed",   "defaults", "rows",  "panels",  "reproduces",
    "presets", "assumed", "contradictions", "not_runnable", "analytic", "table", "figures", "regress"};

Result<std::string> text_at(const Entry& document, const std::string& key, const std::string& default_value) {
  const auto entry = document.find(key);
  if (!entry) return default_value;
  return entry->text();
}

Result<json::array> read_panels(const Entry& document, const PaperValues* paper) {
  std::vector<Entry> shared;
  if (const auto rows = document.find("rows")) {
    const auto list = rows->list();
    if (!list) return list.error();
    for (const auto& row : *list) {
      if (auto checked = row.check_keys(nullptr); !checked) return checked.error();
    }
    shared = *list;
  }
  const auto panels = document.find("panels");
  if (!panels) return document.wrong("needs 'panels'");
  const auto entries = panels->list();
  if (!entries) return entries.error();
  if (entries->empty()) return panels->wrong("must have at least one panel");
  json::array resolved;
  std::set<std::string> ids;
  for (const auto& entry : *entries) {
    auto panel = read_panel(entry, document.find("defaults"), shared, paper);
    if (!panel) return panel.error();
    const std::string id(panel->at("id").as_string());
    if (!ids.insert(id).second) {
      return entry.find("id")->wrong(fmt::format("repeats the panel id '{}'", id));
    }
    resolved.emplace_back(std::move(*panel));
  }
  return resolved;
}

// What is of the whole spec and not in every one.
Result<json::object> read_further(const Entry& document, const std::optional<PaperValues>& paper) {
  json::object further;
  if (paper) {
    further["reproduces"] = paper->reproduces();
    if (const auto* table = paper->table()) further["paper_table"] = *table;
  }
  for (const char* key : {"assumed", "contradictions"}) {
    const auto texts = read_texts(document.find(key));
    if (!texts) return texts.error();
    if (!texts->empty()) further[key] = *texts;
  }
  if (const auto table = document.find("table")) {
    const auto options = read_table_options(*table);
    if (!options) return options.error();
    further["table"] = *options;
  }
  if (const auto regress = document.find("regress")) {
    const auto options = read_regress(*regress);
    if (!options) return options.error();
    further["regress"] = *options;
  }
  return further;
}

// "not_runnable" or "analytic"; empty where the spec trains.
Result<json::object> read_kind(const Entry& document) {
  const auto not_runnable = document.find("not_runnable");
  const auto analytic = document.find("analytic");
  if (not_runnable && analytic) return analytic->wrong("and 'not_runnable' exclude each other; keep one");
  if (not_runnable) {
    const auto read = read_not_runnable(*not_runnable);
    if (!read) return read.error();
    return json::object{{"not_runnable", *read}};
  }
  if (!analytic) return json::object{};
  const auto read = read_analytic(*analytic);
  if (!read) return read.error();
  return json::object{{"analytic", *read}};
}

// What the whole spec assumes is a footnote of every panel, and what the paper's own values contradict of each that shows them.
void add_footnotes(const json::object& further, json::array& panels) {
  for (const auto& [key, lead] :
       {std::pair{"assumed", "Assumed: "}, std::pair{"contradictions", "Of the paper's own values: "}}) {
    const auto* texts = further.if_contains(key);
    if (texts == nullptr) continue;
    for (auto& panel : panels) {
      if (std::string_view(key) == "contradictions" && !panel.as_object().contains("paper")) continue;
      auto& footnotes = panel.as_object().at("footnotes").as_array();
      for (const auto& text : texts->as_array()) {
        footnotes.emplace_back(fmt::format("{}{}", lead, std::string(text.as_string())));
      }
    }
  }
}

Result<Entry> parse_spec(const std::string& path, const std::string& text) {
  auto document = Entry::parse(path, text);
  if (!document) return document;
  if (auto checked = document->check_keys(&kSpecKeys); !checked) return checked.error();
  return document;
}

// Everything but the text, of the top level as its preset makes it.
Result<json::object> resolve(const std::string& path, const Entry& document, const std::string& preset) {
  const auto name_entry = document.find("name");
  if (!name_entry) return document.wrong("needs 'name'");
  auto name = read_identifier(*name_entry);
  if (!name) return name.error();
  if (!preset.empty()) *name += "-" + preset;
  const auto title = text_at(document, "title", *name);
  if (!title) return title.error();
  const auto description = text_at(document, "description", "");
  if (!description) return description.error();
  json::value noise_seed = nullptr;
  if (const auto entry = document.find("noise_seed")) {
    const auto given = entry->text();
    if (!given) return given.error();
    if (given->empty()) return entry->wrong("must not be empty; leave it out for private noise");
    noise_seed = *given;
  }
  std::optional<PaperValues> paper;
  if (const auto entry = document.find("reproduces")) {
    auto read = PaperValues::read(path, *entry);
    if (!read) return read.error();
    paper = std::move(*read);
  }
  const auto kind = read_kind(document);
  if (!kind) return kind.error();
  const auto further = read_further(document, paper);
  if (!further) return further.error();
  json::array panels;
  if (kind->empty()) {
    auto read = read_panels(document, paper ? &*paper : nullptr);
    if (!read) return read.error();
    panels = std::move(*read);
    add_footnotes(*further, panels);
    if (const auto table = document.find("table")) {
      const auto checked = check_table_rows(*table, further->at("table").as_object(), panels);
      if (!checked) return checked.error();
    }
  }
  json::object resolved{{"name", *name},
                        {"title", *title},
                        {"description", *description},
                        {"noise_seed", noise_seed},
                        {"panels", std::move(panels)}};
  if (!preset.empty()) resolved["preset"] = preset;
  if (const auto entry = document.find("figures"); entry && kind->empty()) {
    const auto figures = read_figures(*entry, resolved.at("panels").as_array());
    if (!figures) return figures.error();
    resolved["figures"] = *figures;
  }
  for (const auto* more : {&*kind, &*further}) {
    for (const auto& member : *more) resolved[member.key()] = member.value();
  }
  return resolved;
}

}  // namespace

Result<Spec> load_spec(const std::string& path, const std::string& preset) {
  auto text = read_file(path);
  if (!text) return text.error();
  const auto document = parse_spec(path, *text);
  if (!document) return document.error();
  const auto chosen = choose_preset(*document, preset, kSpecKeys);
  if (!chosen) return chosen.error();
  auto resolved = resolve(path, chosen->document, chosen->preset);
  if (!resolved) return resolved.error();
  return Spec{.path = path, .text = std::move(*text), .resolved = std::move(*resolved)};
}

Result<std::vector<std::string>> presets_of(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  const auto document = parse_spec(path, *text);
  if (!document) return document.error();
  return preset_names(*document);
}

bool is_runnable(const Spec& spec) {
  return !spec.resolved.contains("not_runnable") && !spec.resolved.contains("analytic");
}

}  // namespace hyfreedp::runner
