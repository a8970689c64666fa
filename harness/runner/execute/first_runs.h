// The trials that a spec's studies train first, and a check that they can begin. --dry-run and the
// start of a run call it, so that a row that cannot be trained is found before any other trains.
#pragma once

#include <vector>

#include "harness/runner/spec/plan.h"

namespace hyfreedp::runner {

// Returns the trials that the study wants first. A private selection gives one, whatever number it
// has drawn, since 0 would show.
Result<std::vector<trial::TrialConfig>> first_runs(const PlannedStudy& study);

// An error that names each row of which a first run could not begin (mechanism/run_check.h), or
// whose options leave its method nothing to try. A row that has no run because its epsilon allows
// none is not named: it fails alone.
Result<void> check_first_runs(const std::vector<PlannedStudy>& studies);

}  // namespace hyfreedp::runner
