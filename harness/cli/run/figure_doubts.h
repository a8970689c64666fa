// Finds what is doubtful of the figures that a spec lists; `run` and `run --dry-run` say it before
// anything is trained.
#pragma once

#include <string>
#include <vector>

#include "harness/runner/spec/plan.h"

namespace hyfreedp::cli {

// Returns a sentence for each doubt, from the studies' first runs.
std::vector<std::string> figure_doubts(const runner::Spec& spec,
                                       const std::vector<runner::PlannedStudy>& studies);

}  // namespace hyfreedp::cli
