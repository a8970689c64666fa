// What a spec's studies train first, and whether it can begin: asked by --dry-run and before a run,
// so that a row that cannot be trained is not found after those before it.
#pragma once

#include <vector>

#include "harness/runner/spec/plan.h"

namespace hyfreedp::runner {

// What the study wants first. Of a private selection one run, whatever the number that is drawn: 0
// would show.
Result<std::vector<trial::TrialConfig>> first_runs(const PlannedStudy& study);

// An error that names each row of which a first run could not begin (mechanism/run_check.h), or
// whose options leave its method nothing to try. A row that has no run because its epsilon allows
// none is not named: it fails alone.
Result<void> check_first_runs(const std::vector<PlannedStudy>& studies);

}  // namespace hyfreedp::runner
