// The training part of an audit in one run (Steinke, Nasr & Jagielski, NeurIPS 2023): each of many
// canaries is in the data with probability 1/2, and its presence is guessed from the final weights
// alone. harness/audit/one_run.h tests the guesses.
#pragma once

#include "harness/audit/observations.h"
#include "harness/training/audit/audit_run.h"

namespace hyfreedp::training {

inline constexpr std::int64_t kOneRunCanaries = 100;

// Guesses that the fifth of the canaries with the smallest losses was present and that the fifth
// with the largest losses was not.
audit::OneRunGuesses guess(const std::vector<double>& losses, const std::vector<bool>& present);

// Trains once and returns the guesses; nothing if the population is too small for the canaries. The
// seed, if there is one, determines which canaries are present.
Result<std::optional<audit::OneRunGuesses>> one_run_guesses(const audit::Request& request,
                                                            std::int64_t repetition,
                                                            const ScratchFolder& folder,
                                                            const Parts& parts = {});

}  // namespace hyfreedp::training
