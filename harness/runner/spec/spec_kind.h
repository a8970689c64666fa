// Specs that train nothing: they cannot be run here, with the reason, or they are computed
// (analytic).
//
//   not_runnable: {reason: "...", datasets: [imagenet], models: [...], weights: [...], missing:
//   ["squared loss"]}
//     At least one of the names must not be in a registry; names of pretrained weights and missing
//     features never are.
//   analytic: {name: mohapatra-table-1, options...}
#pragma once

#include "harness/runner/spec/spec_entry.h"
#include "harness/spec/spec.h"

namespace hyfreedp::runner {

// Both return none if anything is wrong.
std::optional<spec::NotRunnable> read_not_runnable(const Entry& entry, Problems& problems);
std::optional<spec::Named> read_analytic(const Entry& entry, Problems& problems);

}  // namespace hyfreedp::runner
