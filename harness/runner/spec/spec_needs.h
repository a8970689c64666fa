// The datasets and weights that a spec names, read from its text alone: reading a whole spec
// (plan.h) fails where they are not on this machine, and this is how to bring them before.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp::runner {

struct SpecNeeds {
  std::set<std::string> datasets;
  std::set<std::string> images;    // a user's own, by the path that the spec gives
  std::set<std::string> weights;   // as the spec names them: a fetched name, or a folder
  std::set<std::string> adapters;  // folders
};

// Returns the needs of the spec as `preset` and `settings` make it (load_spec); empty for one that
// is not runnable. An error if the file cannot be read as YAML, has no such preset or no place for
// a setting; other mistakes are load_spec's.
Result<SpecNeeds> spec_needs(const std::string& path, const std::string& preset,
                             const std::vector<std::string>& settings = {});

}  // namespace hyfreedp::runner
