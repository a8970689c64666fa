// The fingerprint of a run: everything beside its config and key on which its results depend bit
// for bit. If a repeated run has another fingerprint, it is not the same release, and the journal
// begins the next attempt.
#pragma once

#include <string>

#include "harness/base/json.h"

namespace hyfreedp::training {

// {"version", "comparability", "build" (the compiler), "torch", "cpu", "worker", "threads",
// "device"}. "worker" is the hash of this program (trial/build.h); `device` is as in a trial's
// config. The worker adds "commit", on which no result depends.
json::object fingerprint(const std::string& device);

}  // namespace hyfreedp::training
