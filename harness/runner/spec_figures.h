// A spec's `figures`: checked against the kinds (results/figure_spec.h) and against its own panels and rows.
#pragma once

#include "harness/runner/spec_entry.h"

namespace hyfreedp::runner {

// `panels`: resolved. The result is spec["figures"]; a spec that lists no figures stores none.
Result<json::array> read_figures(const Entry& figures, const json::array& panels);

}  // namespace hyfreedp::runner
