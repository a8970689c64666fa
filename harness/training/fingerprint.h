// All that the bits of a run depend on beside its config and key. A replay with another fingerprint
// is not the same release, so the journal starts the next attempt.
#pragma once

#include <string>

#include "harness/base/json.h"

namespace hyfreedp::training {

// {"version", "comparability", "build", "torch", "cpu", "threads", "device"}; `device`: as in a
// trial's config.
json::object fingerprint(const std::string& device);

}  // namespace hyfreedp::training
