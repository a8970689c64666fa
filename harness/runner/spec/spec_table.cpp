#include "harness/runner/spec/spec_table.h"

#include <fmt/format.h>

#include "harness/base/text.h"
#include "results/table/table_options.h"

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

void check_table_name(const Entry& table, const std::string& key, const std::string& name,
                      const std::vector<std::string>& names, Problems& problems) {
  if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) return;
  problems.add(table.find(key)->wrong(fmt::format("names no row: '{}'.{}", name, did_you_mean(name, names))));
}

}  // namespace

std::optional<json::object> read_table_options(const Entry& table, Problems& problems) {
  auto options = options_from(results::table_options(), Layers({table}), problems, {"rerr"});
  if (const auto given = table.find("rerr")) {
    auto rows = options_from(results::rerr_options(), Layers({*given}), problems);
    if (options && rows) (*options)["rerr"] = std::move(*rows);
    if (!rows) return std::nullopt;
  }
  if (!options) return std::nullopt;
  const auto read = from_json<spec::Table>(*options, table.where());
  if (!read || !problems.take(results::table_settings(*read, table.where()))) return std::nullopt;
  return options;
}

void check_table_rows(const Entry& table, const json::object& options, const json::array& panels,
                      Problems& problems) {
  std::vector<std::string> names;
  add_row_names(panels, names);
  check_table_name(table, "relative_to", string_or(options, "relative_to", ""), names, problems);
  const auto* rerr = options.if_contains("rerr");
  if (rerr == nullptr) return;
  for (const char* key : {"random", "oracle"}) {
    check_table_name(*table.find("rerr"), key, string_or(rerr->as_object(), key, ""), names, problems);
  }
}

}  // namespace hyfreedp::runner
