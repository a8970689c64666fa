#include "harness/runner/spec_table.h"

#include <fmt/format.h>

#include "harness/base/text.h"
#include "results/table_options.h"

namespace hyfreedp::runner {
namespace {

void add_row_names(const json::array& panels, std::vector<std::string>& names) {
  for (const auto& panel : panels) {
    for (const auto& row : panel.at("rows").as_array()) {
      names.push_back(string_or(row.as_object(), "id", ""));
      if (const auto group = string_or(row.as_object(), "group", ""); !group.empty()) names.push_back(group);
    }
  }
}

Result<void> check_name(const Entry& table, const std::string& key, const std::string& name,
                        const std::vector<std::string>& names) {
  if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) return {};
  return table.find(key)->wrong(fmt::format("names no row: '{}'.{}", name, did_you_mean(name, names)));
}

}  // namespace

Result<json::object> read_table_options(const Entry& table) {
  auto options = options_from(results::table_options(), Layers({table}), {"rerr"});
  if (!options) return options.error();
  if (const auto given = table.find("rerr")) {
    auto rows = options_from(results::rerr_options(), Layers({*given}));
    if (!rows) return rows.error();
    (*options)["rerr"] = std::move(*rows);
  }
  if (const auto settings = results::table_settings(*options, table.where()); !settings)
    return settings.error();
  return options;
}

Result<void> check_table_rows(const Entry& table, const json::object& options, const json::array& panels) {
  std::vector<std::string> names;
  add_row_names(panels, names);
  if (auto checked = check_name(table, "relative_to", string_or(options, "relative_to", ""), names);
      !checked) {
    return checked;
  }
  const auto* rerr = options.if_contains("rerr");
  if (rerr == nullptr) return {};
  for (const char* key : {"random", "oracle"}) {
    if (auto checked = check_name(*table.find("rerr"), key, string_or(rerr->as_object(), key, ""), names);
        !checked) {
      return checked;
    }
  }
  return {};
}

}  // namespace hyfreedp::runner
