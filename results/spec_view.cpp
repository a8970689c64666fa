#include "results/spec_view.h"

#include <cmath>
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
  if (const auto* optimizer = panel.if_contains("optimizer");
      optimizer != nullptr && optimizer->is_object()) {
    if (auto name = text_at(optimizer->get_object(), "name"); !name.empty())
      parts.push_back("optimizer " + name);
  }
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
  return view;
}

PanelView panel_of(const json::object& panel) {
  PanelView view;
  view.id = text_at(panel, "id");
  view.title = text_at(panel, "title");
  if (view.title.empty()) view.title = view.id;
  view.settings = settings_line(panel);
  view.delta = number_at(panel, "delta").value_or(0);
  view.steps = static_cast<std::int64_t>(number_at(panel, "steps").value_or(0));
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
  for (const auto& panel : list_at(spec.resolved, "panels")) {
    if (panel.is_object()) view.panels.push_back(panel_of(panel.get_object()));
  }
  return view;
}

}  // namespace hyfreedp::results
