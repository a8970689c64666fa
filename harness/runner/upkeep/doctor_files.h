// Checks of `hyfreedp doctor` that look at files' names and modes alone (doctor.h).
#pragma once

#include "harness/runner/upkeep/doctor.h"

namespace hyfreedp::runner {

// Finds confidential values that are not their owner's alone: files must be 0600, folders 0700.
// Links are not followed.
Result<std::vector<Finding>> check_permissions(const Patient& patient);

// Files NAME.tmp-PID whose process is gone (write_file_atomically, replace_key).
Result<std::vector<Finding>> check_leftovers(const Patient& patient);

// Weights that --keep-weights staged for rows that have an answer, or for specs that are not there.
Result<std::vector<Finding>> check_staged_weights(const Patient& patient);

}  // namespace hyfreedp::runner
