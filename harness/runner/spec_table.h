// `table:` of a spec, and of a panel: how its table is made.
#pragma once

#include "harness/runner/spec_entry.h"

namespace hyfreedp::runner {

// What is given, checked (results/table_options.h); nothing else, so that later options move no spec's hash.
Result<json::object> read_table_options(const Entry& table);

// Each row that the options of `table` name is one of `panels` (resolved), or a group of its rows.
Result<void> check_table_rows(const Entry& table, const json::object& options, const json::array& panels);

}  // namespace hyfreedp::runner
