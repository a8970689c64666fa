#include "harness/runner/spec.h"

#include <fmt/format.h>
#include <set>

#include "harness/base/files.h"
#include "harness/runner/plan.h"
#include "harness/runner/spec_figures.h"

namespace hyfreedp::runner {
namespace {

const std::vector<std::string> kSpecKeys = {"name",     "title", "description", "noise_seed",
                                            "defaults", "rows",  "panels",      "figures"};

Result<std::string> text_at(const Entry& document, const std::string& key, const std::string& otherwise) {
  const auto entry = document.find(key);
  if (!entry) return otherwise;
  return entry->text();
}

Result<json::array> read_panels(const Entry& document) {
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
    auto panel = read_panel(entry, document.find("defaults"), shared);
    if (!panel) return panel.error();
    const std::string id(panel->at("id").as_string());
    if (!ids.insert(id).second) {
      return entry.find("id")->wrong(fmt::format("repeats the panel id '{}'", id));
    }
    resolved.emplace_back(std::move(*panel));
  }
  return resolved;
}

}  // namespace

Result<Spec> load_spec(const std::string& path) {
  auto text = read_file(path);
  if (!text) return text.error();
  const auto document = Entry::parse(path, *text);
  if (!document) return document.error();
  if (auto checked = document->check_keys(&kSpecKeys); !checked) return checked.error();
  const auto name_entry = document->find("name");
  if (!name_entry) return document->wrong("needs 'name'");
  const auto name = read_identifier(*name_entry);
  if (!name) return name.error();
  const auto title = text_at(*document, "title", *name);
  if (!title) return title.error();
  const auto description = text_at(*document, "description", "");
  if (!description) return description.error();
  json::value noise_seed = nullptr;
  if (const auto entry = document->find("noise_seed")) {
    const auto given = entry->text();
    if (!given) return given.error();
    if (given->empty()) return entry->wrong("must not be empty; leave it out for private noise");
    noise_seed = *given;
  }
  const auto panels = read_panels(*document);
  if (!panels) return panels.error();
  Spec spec{.path = path,
            .text = std::move(*text),
            .resolved = {{"name", *name},
                         {"title", *title},
                         {"description", *description},
                         {"noise_seed", noise_seed},
                         {"panels", *panels}}};
  if (const auto entry = document->find("figures")) {
    const auto figures = read_figures(*entry, *panels);
    if (!figures) return figures.error();
    spec.resolved["figures"] = *figures;
  }
  return spec;
}

}  // namespace hyfreedp::runner
