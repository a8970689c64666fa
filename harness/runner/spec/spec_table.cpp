#include "harness/runner/spec/spec_table.h"

#include <fmt/format.h>

#include "harness/base/text.h"
#include "results/table/table_options.h"

namespace hyfreedp::runner {
namespace {

void check_table_name(const Entry& table, const std::string& key, const std::string& name,
                      const std::vector<std::string>& names, Problems& problems) {
  if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) return;
  problems.add(table.find(key)->wrong(fmt::format("names no row: '{}'.{}", name, did_you_mean(name, names))));
}

}  // namespace

std::optional<spec::Table> read_table_options(const Entry& table, Problems& problems) {
  auto options = read_options<spec::Table>(results::table_options(), Layers({table}), problems, {"rerr"});
  if (const auto given = table.find("rerr")) {
    const auto rows = read_options<spec::Rerr>(results::rerr_options(), Layers({*given}), problems);
    if (!rows) return std::nullopt;
    if (options) options->rerr = *rows;
  }
  if (!options || !problems.take(results::table_settings(*options, table.where()))) return std::nullopt;
  return options;
}

void check_table_rows(const Entry& table, const spec::Table& options, const std::vector<spec::Panel>& panels,
                      Problems& problems) {
  const auto names = spec::row_names(panels);
  check_table_name(table, "relative_to", options.relative_to.value_or(""), names, problems);
  if (!options.rerr) return;
  check_table_name(*table.find("rerr"), "random", options.rerr->random, names, problems);
  check_table_name(*table.find("rerr"), "oracle", options.rerr->oracle, names, problems);
}

}  // namespace hyfreedp::runner
