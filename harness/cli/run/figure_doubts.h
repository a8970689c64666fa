// What is doubtful of the figures that a spec lists, said by `run` and by `run --dry-run` before
// anything is trained.
#pragma once

#include <string>
#include <vector>

#include "harness/runner/spec/plan.h"

namespace hyfreedp::cli {

// A sentence for each. Of the studies' first runs.
std::vector<std::string> figure_doubts(const runner::Spec& spec,
                                       const std::vector<runner::PlannedStudy>& studies);

}  // namespace hyfreedp::cli
