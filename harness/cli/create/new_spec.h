// `hyfreedp new spec NAME`: the least spec that runs, with comments that say what to change.
#pragma once

#include <string>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp::cli {

// NAME.yaml, as text. Seconds to run; on generated data.
std::string spec_text(const std::string& name);
// The keys that its reader changes first: "dataset     hyfreedp list datasets", one line each.
std::vector<std::string> what_to_change();
// Writes FOLDER/NAME.yaml and returns its path. Refused: a name that is none of a spec, a file that
// is there.
Result<std::string> write_spec(const std::string& folder, const std::string& name);

}  // namespace hyfreedp::cli
