// The comparison of folders before they are merged (merge.h), and what is taken from which.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/runner/upkeep/held_runs.h"
#include "harness/trial/run_records.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

struct MergePlan {
  // The number of the folder from which each thing is taken.
  std::map<std::string, std::size_t> specs, studies, runs, journals, releases;
  // All attempts at the seeded runs that several folders have, by run.
  std::map<std::string, std::vector<trial::ChargedAttempt>> seeded_attempts;
  std::vector<results::RetiredStudy> open_elsewhere;  // rows that are open in several folders
  std::set<std::string> continued;                    // specs that several folders have
  std::size_t equal = 0;                              // rows that are the same in two folders
  std::vector<std::string> notes;                     // sentences: what the user should know
};

// Compares `sides`, of which the first is the folder into which the others go. An error whose
// message has a line for each contradiction.
Result<MergePlan> plan_merge(const std::vector<Side>& sides);

}  // namespace hyfreedp::runner
