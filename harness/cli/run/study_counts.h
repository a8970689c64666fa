// How many studies of a spec are in which state.
#pragma once

#include <string>
#include <vector>

#include "results/store/store.h"

namespace hyfreedp::cli {

// "3 studies: 1 concluded, 1 open, 1 failed (1 diverged)".
std::string study_counts(const std::vector<results::StudyRecord>& studies);

}  // namespace hyfreedp::cli
