#include "harness/runner/spec_table.h"

namespace hyfreedp::runner {
namespace {

const std::vector<OptionSpec>& table_options() {
  static const std::vector<OptionSpec> table = {};
  return table;
}

}  // namespace

Result<json::object> read_table_options(const Entry& table) {
  return options_from(table_options(), Layers({table}));
}

}  // namespace hyfreedp::runner
