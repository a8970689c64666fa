// The training side of an audit in one run (Steinke, Nasr & Jagielski, NeurIPS 2023): each of many canaries is in the
// data or not by a fair coin, and guesses are made from the final weights alone. harness/audit/one_run.h judges them.
#pragma once

#include "harness/audit/observations.h"
#include "harness/training/audit/audit_run.h"

namespace hyfreedp::training {

inline constexpr std::int64_t kOneRunCanaries = 100;

// The fifth of the canaries with the smallest losses is guessed to have been there, the fifth with the largest not.
audit::OneRunGuesses guess(const std::vector<double>& losses, const std::vector<bool>& present);

// Trains once; empty where the population has no room for the canaries. The coins are from the seed where there is one.
Result<std::optional<audit::OneRunGuesses>> one_run_guesses(const AuditRequest& request,
                                                            std::int64_t repetition,
                                                            const AuditFolder& folder);

}  // namespace hyfreedp::training
