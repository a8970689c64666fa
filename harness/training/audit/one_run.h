// The training side of an audit in one run (Steinke, Nasr & Jagielski, NeurIPS 2023): each of many
// canaries is in the data or not by a fair coin, and guesses are made from the final weights alone.
// harness/audit/one_run.h judges them.
#pragma once

#include "harness/audit/observations.h"
#include "harness/training/audit/audit_run.h"

namespace hyfreedp::training {

inline constexpr std::int64_t kOneRunCanaries = 100;

// Guesses that the fifth of the canaries with the smallest losses was present and that the fifth
// with the largest losses was not.
audit::OneRunGuesses guess(const std::vector<double>& losses, const std::vector<bool>& present);

// Trains once. Nothing if the population is too small for the canaries. The coins come from the
// seed if there is one.
Result<std::optional<audit::OneRunGuesses>> one_run_guesses(const AuditRequest& request,
                                                            std::int64_t repetition,
                                                            const AuditFolder& folder);

}  // namespace hyfreedp::training
