// The `table` of a spec and of a panel, which says how its table is made.
#pragma once

#include "harness/runner/spec/spec_entry.h"

namespace hyfreedp::runner {

// What is given, checked (results/table/table_options.h); nothing else, so that later options move
// no spec's hash. Nothing where anything is wrong.
std::optional<json::object> read_table_options(const Entry& table, Problems& problems);

// Each row that the options of `table` name is one of `panels` (resolved), or a group of its rows.
void check_table_rows(const Entry& table, const json::object& options, const json::array& panels,
                      Problems& problems);

}  // namespace hyfreedp::runner
