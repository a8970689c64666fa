// Warns of a run that goes on with rows that another build of the program began.
#pragma once

#include <optional>
#include <string>

#include "harness/runner/spec/plan.h"
#include "harness/trial/build.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

// The build of this program with that worker.
trial::Build build_of_worker(const std::string& worker);

// The sentence with which `hyfreedp run` warns: which builds the spec's finished studies are of,
// and which one does the rest. None where nothing is left to do, or all of it is of `now`. Studies
// are counted, never runs: of a private selection their number is confidential.
Result<std::optional<std::string>> mixed_builds_warning(const results::Store& store, const Spec& spec,
                                                        const trial::Build& now);

}  // namespace hyfreedp::runner
