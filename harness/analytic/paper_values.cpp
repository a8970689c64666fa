#include "harness/analytic/paper_values.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace hyfreedp::analytic {
namespace {

Labels labels_of(const json::object& cell, std::string_view key) {
  Labels labels;
  const auto* found = cell.if_contains(key);
  if (!found || !found->is_array()) return labels;
  for (const auto& label : found->as_array()) {
    labels.push_back(label.is_string() ? std::string(label.as_string()) : canonical_json(label));
  }
  return labels;
}

const json::object* table_of(const json::value& document, const std::string& id) {
  if (!document.is_object()) return nullptr;
  const auto* tables = document.as_object().if_contains("tables");
  if (!tables || !tables->is_array()) return nullptr;
  for (const auto& table : tables->as_array()) {
    if (table.is_object() && string_or(table.as_object(), "id", "") == id) return &table.as_object();
  }
  return nullptr;
}

}  // namespace

int decimals_of(double value) {
  const std::string text = fmt::format("{}", value);
  const auto exponent = text.find('e');
  const auto point = text.find('.');
  const int power = exponent == std::string::npos ? 0 : std::stoi(text.substr(exponent + 1));
  const auto end = std::min(exponent, text.size());
  const int behind = point == std::string::npos ? 0 : static_cast<int>(end - point) - 1;
  return std::max(0, behind - power);
}

std::vector<PaperCell> PaperValues::table(const std::string& id) const {
  std::vector<PaperCell> cells;
  const auto* table = table_of(document_, id);
  const auto* listed = table ? table->if_contains("cells") : nullptr;
  if (!listed || !listed->is_array()) return cells;
  std::map<Labels, int> decimals;
  for (const auto& entry : listed->as_array()) {
    if (!entry.is_object()) continue;
    const auto& object = entry.as_object();
    const auto* value = object.if_contains("value");
    if (!value || !value->is_number()) continue;
    PaperCell cell{labels_of(object, "row"), labels_of(object, "columns"), value->to_number<double>(), {}, 0};
    if (const auto* sd = object.if_contains("sd"); sd && sd->is_number()) cell.sd = sd->to_number<double>();
    int& most = decimals[cell.columns];
    most = std::max(most, decimals_of(cell.value));
    cells.push_back(std::move(cell));
  }
  for (auto& cell : cells) cell.decimals = decimals[cell.columns];
  return cells;
}

std::optional<PaperCell> PaperValues::cell(const std::string& table_id, const Labels& row,
                                           const Labels& columns) const {
  for (auto& cell : table(table_id)) {
    if (cell.row == row && cell.columns == columns) return cell;
  }
  return std::nullopt;
}

std::optional<std::string> PaperValues::text(const std::string& table_id, const Labels& row,
                                             const Labels& columns) const {
  const auto* table = table_of(document_, table_id);
  const auto* listed = table ? table->if_contains("cells") : nullptr;
  if (!listed || !listed->is_array()) return std::nullopt;
  for (const auto& entry : listed->as_array()) {
    if (!entry.is_object()) continue;
    const auto& object = entry.as_object();
    const auto* value = object.if_contains("value");
    if (!value || !value->is_string() || labels_of(object, "row") != row ||
        labels_of(object, "columns") != columns)
      continue;
    return std::string(value->as_string());
  }
  return std::nullopt;
}

const json::value* PaperValues::at(const std::string& pointer) const {
  boost::system::error_code failed;
  return document_.find_pointer(pointer, failed);
}

}  // namespace hyfreedp::analytic
