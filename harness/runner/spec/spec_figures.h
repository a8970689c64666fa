// A spec's `figures`: checked against the kinds (results/table/figure_spec.h) and against its own
// panels and rows.
#pragma once

#include "harness/runner/spec/spec_entry.h"
#include "harness/spec/spec.h"

namespace hyfreedp::runner {

// `panels`: null where mistakes leave them unknown, and nothing is then said of the names of rows
// and panels. None if any figure is wrong.
std::optional<std::vector<spec::Figure>> read_figures(const Entry& figures,
                                                      const std::vector<spec::Panel>* panels,
                                                      Problems& problems);

}  // namespace hyfreedp::runner
