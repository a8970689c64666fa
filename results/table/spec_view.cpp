#include "results/table/spec_view.h"

#include <cmath>
#include <cstdlib>
#include <fmt/format.h>

#include "harness/base/text.h"

namespace hyfreedp::results {
namespace {

const json::array& list_at(const json::object& object, const char* key) {
  static const json::array kEmpty;
  const auto* found = object.if_contains(key);
  return found != nullptr && found->is_array() ? found->get_array() : kEmpty;
}

std::string text_at(const json::object& object, const char* key) {
  const auto* found = object.if_contains(key);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : "";
}

std::optional<double> number_at(const json::object& object, const char* key) {
  const auto* found = object.if_contains(key);
  if (found == nullptr) return std::nullopt;
  const auto value = to_double(*found, key);
  return value ? std::optional<double>(*value) : std::nullopt;
}

std::vector<std::string> texts_at(const json::object& object, const char* key) {
  std::vector<std::string> texts;
  for (const auto& element : list_at(object, key)) {
    if (element.is_string()) texts.emplace_back(element.get_string());
  }
  return texts;
}

std::vector<std::int64_t> seeds_at(const json::object& object) {
  std::vector<std::int64_t> seeds;
  for (const auto& element : list_at(object, "seeds")) {
    if (const auto value = to_double(element, "seeds")) seeds.push_back(static_cast<std::int64_t>(*value));
  }
  return seeds;
}

std::vector<std::optional<double>> epsilons_at(const json::object& object) {
  std::vector<std::optional<double>> epsilons;
  for (const auto& element : list_at(object, "epsilons")) {
    const auto value = to_double(element, "epsilons");
    if (!value) continue;
    epsilons.push_back(std::isinf(*value) ? std::optional<double>{} : *value);
  }
  return epsilons;
}

json::object map_at(const json::object& object, const char* key) {
  const auto* found = object.if_contains(key);
  return found != nullptr && found->is_object() ? found->get_object() : json::object{};
}

std::int64_t count_at(const json::object& object, const char* key) {
  return static_cast<std::int64_t>(number_at(object, key).value_or(0));
}

std::map<std::optional<double>, PaperValue> paper_at(const json::object& row) {
  std::map<std::optional<double>, PaperValue> cells;
  for (const auto& member : map_at(row, "paper")) {
    if (!member.value().is_object()) continue;
    const auto& cell = member.value().get_object();
    const auto value = number_at(cell, "value");
    const std::string key(member.key());
    const auto epsilon = key == "inf" ? 0 : std::strtod(key.c_str(), nullptr);
    if (!value || (key != "inf" && !(epsilon > 0))) continue;
    cells[key == "inf" ? std::optional<double>() : epsilon] =
        PaperValue{.value = *value, .sd = number_at(cell, "sd"), .unit = text_at(cell, "unit")};
  }
  return cells;
}

std::string settings_line(const json::object& panel) {
  std::vector<std::string> parts;
  const auto add = [&](const char* key, const char* symbol) {
    if (const auto value = number_at(panel, key))
      parts.push_back(fmt::format("{} = {}", symbol, short_number(*value, 8)));
  };
  add("population", "N");
  add("dimension", "d");
  add("steps", "T");
  add("sample_rate", "q");
  if (const auto delta = number_at(panel, "delta")) parts.push_back("δ = " + short_number(*delta));
  return join(parts, ", ");
}

RowView row_of(const json::object& row, const PanelView& panel,
               const std::vector<std::int64_t>& panel_seeds) {
  RowView view;
  view.id = text_at(row, "id");
  view.method = text_at(row, "method");
  view.title = text_at(row, "title");
  if (view.title.empty()) view.title = view.id;
  view.label = text_at(row, "label");
  view.seeds = row.contains("seeds") ? seeds_at(row) : panel_seeds;
  view.epsilons = row.contains("epsilons") ? epsilons_at(row) : panel.epsilons;
  view.footnotes = texts_at(row, "footnotes");
  view.group = text_at(row, "group");
  view.paper = paper_at(row);
  view.optimizer = text_at(map_at(row, "optimizer"), "name");
  if (view.optimizer.empty()) view.optimizer = panel.optimizer;
  return view;
}

PanelView panel_of(const json::object& panel) {
  PanelView view;
  view.id = text_at(panel, "id");
  view.title = text_at(panel, "title");
  if (view.title.empty()) view.title = view.id;
  view.settings = settings_line(panel);
  view.optimizer = text_at(map_at(panel, "optimizer"), "name");
  view.delta = number_at(panel, "delta").value_or(0);
  view.steps = count_at(panel, "steps");
  view.population = count_at(panel, "population");
  view.validation = count_at(panel, "validation");
  view.test = count_at(panel, "test");
  view.table = map_at(panel, "table");
  view.epsilons = epsilons_at(panel);
  view.footnotes = texts_at(panel, "footnotes");
  const auto seeds = seeds_at(panel);
  for (const auto& row : list_at(panel, "rows")) {
    if (row.is_object()) view.rows.push_back(row_of(row.get_object(), view, seeds));
  }
  return view;
}

}  // namespace

SpecView view_of(const SpecRecord& spec) {
  SpecView view;
  view.title = text_at(spec.resolved, "title");
  if (view.title.empty()) view.title = spec.name;
  view.description = text_at(spec.resolved, "description");
  const auto* seed = spec.resolved.if_contains("noise_seed");
  view.seeded_noise = seed != nullptr && !seed->is_null();
  view.preset = text_at(spec.resolved, "preset");
  view.reproduces = spec.resolved.contains("reproduces");
  view.table = map_at(spec.resolved, "table");
  for (const auto& panel : list_at(spec.resolved, "panels")) {
    if (panel.is_object()) view.panels.push_back(panel_of(panel.get_object()));
  }
  return view;
}

}  // namespace hyfreedp::results
