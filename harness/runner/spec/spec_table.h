// The `table` of a spec and of a panel, which says how its table is made.
#pragma once

#include "harness/runner/spec/spec_entry.h"
#include "harness/spec/spec.h"

namespace hyfreedp::runner {

// Returns what is given, checked (results/table/table_options.h); nothing else, so that later
// options change no spec's hash. None if anything is wrong.
std::optional<spec::Table> read_table_options(const Entry& table, Problems& problems);

// Each row that the options of `table` name is one of the panels', or a group of them.
void check_table_rows(const Entry& table, const spec::Table& options, const std::vector<spec::Panel>& panels,
                      Problems& problems);

}  // namespace hyfreedp::runner
