// All that the bits of a run depend on beside its config and key. A replay with another fingerprint
// is not the same release, so the journal starts the next attempt.
#pragma once

#include <string>

#include "harness/base/json.h"

namespace hyfreedp::training {

// {"version", "comparability", "build" (the compiler), "torch", "cpu", "worker", "threads",
// "device"}; "worker": which program this process is (trial/build.h); `device`: as in a trial's
// config. The worker adds "commit", which decides no bit.
json::object fingerprint(const std::string& device);

}  // namespace hyfreedp::training
