// `table:` of a spec, and of a panel: how its table is made.
#pragma once

#include "harness/runner/spec_entry.h"

namespace hyfreedp::runner {

// What is given, checked; nothing else, so that later options move no spec's hash.
Result<json::object> read_table_options(const Entry& table);

}  // namespace hyfreedp::runner
