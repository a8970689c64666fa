// Checks of `hyfreedp doctor` that read journals, keys and release records (doctor.h).
#pragma once

#include "harness/runner/upkeep/doctor.h"

namespace hyfreedp::runner {

// Journals that cannot be read or are another trial's, and runs that the database has not taken in.
Result<std::vector<Finding>> check_journals(const Patient& patient);

// Keys that cannot be read, that are left of what is over, or whose journal is lost; and
// interrupted runs whose key is lost.
Result<std::vector<Finding>> check_keys(const Patient& patient);

// Checkpoints that no run goes on from: of runs that are over, or that have no journal.
Result<std::vector<Finding>> check_checkpoints(const Patient& patient);

// Release records that cannot be read or were changed.
Result<std::vector<Finding>> check_releases(const Patient& patient);

}  // namespace hyfreedp::runner
