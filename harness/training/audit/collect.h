// Runs the training path as a worker runs it (keys, journals, trainer) and collects what an audit
// judges:
//   - `runs` runs of the setting with canaries: residuals, scores, batches, releases against the
//     journal;
//   - runs of the sparse setting (experiment.h), at least kSparseBatches batches: what becomes of
//     empty batches;
//   - one run in which each canary is there by a fair coin, guessed from the final weights' losses.
// Journals and keys lie in a temporary folder that is removed.
#pragma once

#include <functional>

#include "harness/audit/observations.h"
#include "harness/training/audit/request.h"

namespace hyfreedp::training {

inline constexpr std::int64_t kSparseBatches = 300;
// Number of residuals that are kept, of the first steps of every run: 80 MB.
inline constexpr std::int64_t kMostResiduals = 20'000'000;

using AuditProgress = std::function<void(const std::string& line)>;

// An error if a run could not be started or ended before its last step.
Result<audit::Observations> collect(const AuditRequest& request, const AuditProgress& progress);

}  // namespace hyfreedp::training
