// Runs the training path as a worker does (keys, journals, trainer) and collects the observations
// that an audit tests:
//   - `runs` runs of the setting with canaries: residuals, scores, batches, and releases compared
//     with the journal;
//   - runs of the sparse setting (experiment.h), with at least kSparseBatches batches, to test how
//     empty batches are treated;
//   - one run in which each canary is present with probability 1/2; its presence is guessed from
//     the losses at the final weights.
// Journals and keys are in a temporary folder that is removed.
#pragma once

#include <functional>

#include "harness/audit/observations.h"
#include "harness/audit/request.h"
#include "harness/training/parts.h"

namespace hyfreedp::training {

inline constexpr std::int64_t kSparseBatches = 300;
// The largest number of residuals that are kept, those of the first steps of every run: 80 MB.
inline constexpr std::int64_t kMostResiduals = 20'000'000;

using AuditProgress = std::function<void(const std::string& line)>;

// Returns an error if a run could not be started or ended before its last step.
Result<audit::Observations> collect(const audit::Request& request, const AuditProgress& progress,
                                    const Parts& parts = {});

}  // namespace hyfreedp::training
