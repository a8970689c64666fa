// A spec's `regress` block: how `hyfreedp regress` compares its nights (results/regress/regress.h).
// The keys are declared here.
#pragma once

#include "harness/runner/spec/spec_entry.h"
#include "harness/spec/regress.h"

namespace hyfreedp::runner {

// Reads the options with every default filled in. None if anything is wrong.
std::optional<spec::Regress> read_regress(const Entry& regress, Problems& problems);

}  // namespace hyfreedp::runner
