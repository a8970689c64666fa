#include "harness/runner/spec/spec.h"

#include <fmt/format.h>
#include <set>
#include <string_view>

#include "harness/runner/spec/plan.h"
#include "harness/runner/spec/spec_figures.h"
#include "harness/runner/spec/spec_file.h"
#include "harness/runner/spec/spec_kind.h"
#include "harness/runner/spec/spec_presets.h"
#include "harness/runner/spec/spec_regress.h"
#include "harness/runner/spec/spec_table.h"

namespace hyfreedp::runner {
namespace {

const std::vector<std::string>& spec_keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> all = {
        "name",    "title",   "description",    "noise_seed",   "defaults", "rows",  "panels",  "reproduces",
        "presets", "assumed", "contradictions", "not_runnable", "analytic", "table", "figures", "regress"};
    all.insert(all.end(), default_keys().begin(), default_keys().end());
    return all;
  }();
  return keys;
}

std::string text_at(const Entry& document, const std::string& key, const std::string& default_value,
                    Problems& problems) {
  const auto entry = document.find(key);
  return entry ? problems.take(entry->text()).value_or("") : default_value;
}

// Without `panels` the top level is the only one.
std::vector<PanelRequest> panels_asked(const Entry& document, Problems& problems) {
  std::vector<PanelRequest> requests;
  const auto panels = document.find("panels");
  if (!panels) {
    requests.push_back({.panel = document, .defaults = {}, .shared = {}, .is_document = true});
    return requests;
  }
  for (const auto& key : default_keys()) {
    if (const auto given = document.find(key)) {
      problems.add(given->wrong("is not read beside 'panels'; put it under 'defaults'", ""));
    }
  }
  const auto entries = problems.take(panels->list());
  if (!entries) return requests;
  if (entries->empty()) problems.add(panels->wrong("must have at least one panel"));
  for (const auto& entry : *entries) requests.push_back({.panel = entry, .defaults = {}, .shared = {}});
  return requests;
}

std::optional<json::array> read_panels(const Entry& document, const PaperValues* paper, Problems& problems) {
  const auto before = problems.added();
  const auto defaults = document.find("defaults");
  if (defaults) defaults->check_keys(&default_keys(), problems);
  std::vector<Entry> shared;
  const auto before_rows = problems.added();
  if (const auto rows = document.find("rows")) shared = read_shared_rows(*rows, problems);
  const bool shared_are_known = problems.added() == before_rows;
  json::array resolved;
  std::set<std::string> ids;
  for (auto& request : panels_asked(document, problems)) {
    request.defaults = defaults;
    request.shared = shared;
    request.shared_are_known = shared_are_known;
    request.paper = paper;
    if (const auto id = request.panel.find("id"); id && !ids.insert(id->shown()).second) {
      problems.add(id->wrong(fmt::format("repeats the panel id {}", id->shown())));
    }
    if (auto panel = read_panel(request, problems)) resolved.emplace_back(std::move(*panel));
  }
  if (problems.added() > before) return std::nullopt;
  return resolved;
}

// What is of the whole spec and not in every one.
json::object read_further(const Entry& document, const std::optional<PaperValues>& paper,
                          Problems& problems) {
  json::object further;
  if (paper) {
    further["reproduces"] = paper->reproduces();
    if (const auto* table = paper->table()) further["paper_table"] = *table;
  }
  for (const char* key : {"assumed", "contradictions"}) {
    const auto texts = problems.take(read_texts(document.find(key)));
    if (texts && !texts->empty()) further[key] = *texts;
  }
  if (const auto table = document.find("table")) {
    if (const auto options = read_table_options(*table, problems)) further["table"] = *options;
  }
  if (const auto regress = document.find("regress")) {
    if (const auto options = read_regress(*regress, problems)) further["regress"] = *options;
  }
  return further;
}

// "not_runnable" or "analytic"; empty where the spec trains.
json::object read_kind(const Entry& document, Problems& problems) {
  const auto not_runnable = document.find("not_runnable");
  const auto analytic = document.find("analytic");
  if (not_runnable && analytic) {
    problems.add(analytic->wrong("and 'not_runnable' exclude each other; keep one", ""));
  }
  json::object kind;
  if (not_runnable) {
    kind["not_runnable"] = read_not_runnable(*not_runnable, problems).value_or(json::object{});
  }
  if (analytic) kind["analytic"] = read_analytic(*analytic, problems).value_or(json::object{});
  return kind;
}

// What the whole spec assumes is a footnote of every panel, and what the paper's own values
// contradict of each that shows them.
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

std::optional<Entry> parse_spec(const std::string& path, const std::string& text, Problems& problems) {
  auto document = problems.take(Entry::parse(path, text));
  if (!document || !document->check_keys(&spec_keys(), problems)) return std::nullopt;
  return document;
}

json::value read_noise_seed(const Entry& document, Problems& problems) {
  const auto entry = document.find("noise_seed");
  if (!entry) return nullptr;
  const auto given = problems.take(entry->text());
  if (!given) return nullptr;
  if (given->empty()) problems.add(entry->wrong("must not be empty; leave it out for private noise"));
  return json::value(*given);
}

std::string read_name(const Entry& document, const std::string& preset, Problems& problems) {
  const auto entry = document.find("name");
  if (!entry) {
    document.need("name", problems);
    return "";
  }
  const auto name = problems.take(read_identifier(*entry)).value_or("");
  return preset.empty() ? name : name + "-" + preset;
}

// Everything but the text, of the top level as its preset makes it.
json::object resolve(const std::string& path, const Entry& document, const std::string& preset,
                     Problems& problems) {
  const auto name = read_name(document, preset, problems);
  json::object resolved{{"name", name},
                        {"title", text_at(document, "title", name, problems)},
                        {"description", text_at(document, "description", "", problems)},
                        {"noise_seed", read_noise_seed(document, problems)}};
  if (!preset.empty()) resolved["preset"] = preset;
  std::optional<PaperValues> paper;
  if (const auto entry = document.find("reproduces")) paper = PaperValues::read(path, *entry, problems);
  const auto kind = read_kind(document, problems);
  const auto further = read_further(document, paper, problems);
  json::array panels;
  if (kind.empty()) {
    auto read = read_panels(document, paper ? &*paper : nullptr, problems);
    if (const auto figures = document.find("figures")) {
      const auto drawn = read_figures(*figures, read ? &*read : nullptr, problems);
      if (drawn) resolved["figures"] = *drawn;
    }
    if (const auto* table = further.if_contains("table"); read && table != nullptr) {
      check_table_rows(*document.find("table"), table->as_object(), *read, problems);
    }
    if (read) panels = std::move(*read);
    add_footnotes(further, panels);
  }
  resolved["panels"] = std::move(panels);
  for (const auto* more : {&kind, &further}) {
    for (const auto& member : *more) resolved[member.key()] = member.value();
  }
  return resolved;
}

}  // namespace

Result<Spec> load_spec(const std::string& path, const std::string& preset) {
  auto text = read_spec_file(path);
  if (!text) return text.error();
  Problems problems(path);
  const auto document = parse_spec(path, *text, problems);
  if (!document) return problems.error();
  const auto chosen = choose_preset(*document, preset, spec_keys(), problems);
  if (!chosen) return problems.error();
  auto resolved = resolve(path, chosen->document, chosen->preset, problems);
  if (!problems.empty()) return problems.error();
  return Spec{.path = path,
              .text = std::move(*text),
              .resolved = std::move(resolved),
              .warnings = problems.warnings()};
}

Result<std::vector<std::string>> presets_of(const std::string& path) {
  const auto text = read_spec_file(path);
  if (!text) return text.error();
  Problems problems(path);
  const auto document = parse_spec(path, *text, problems);
  const auto names = document ? preset_names(*document, problems) : std::nullopt;
  if (!names || !problems.empty()) return problems.error();
  return *names;
}

bool is_runnable(const Spec& spec) {
  return !spec.resolved.contains("not_runnable") && !spec.resolved.contains("analytic");
}

}  // namespace hyfreedp::runner
