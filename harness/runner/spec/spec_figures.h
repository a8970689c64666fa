// A spec's `figures`: checked against the kinds (results/table/figure_spec.h) and against its own
// panels and rows.
#pragma once

#include "harness/runner/spec/spec_entry.h"

namespace hyfreedp::runner {

// `panels`: resolved; null where mistakes leave them unknown, and nothing is then said of the names
// of rows and panels. The result is spec["figures"]; a spec that lists no figures stores none.
// Nothing where any is wrong.
std::optional<json::array> read_figures(const Entry& figures, const json::array* panels, Problems& problems);

}  // namespace hyfreedp::runner
