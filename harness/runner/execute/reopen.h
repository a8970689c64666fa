// `hyfreedp retry`: studies that were cancelled, or that the machine failed, are open again.
#pragma once

#include <string>
#include <vector>

#include "harness/runner/odometer/out_folder.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

// Opens these studies of `spec`, all of which can be retried (why_not_retried), for the next run.
// The caller holds the folder's lock. An error, and nothing is changed, where that run could not go
// on: the key of the spec's draws is gone, and one of the studies draws.
Result<void> reopen(results::Store& store, const OutFolder& out, const results::SpecRecord& spec,
                    const std::vector<results::StudyRecord>& studies);

}  // namespace hyfreedp::runner
