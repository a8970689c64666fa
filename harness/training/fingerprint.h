// The fingerprint of a run: everything beside its config and key on which its results depend bit
// for bit. If a repeated run has another fingerprint, it is not the same release, and the journal
// begins the next attempt.
#pragma once

#include <string>

#include "harness/base/json.h"

namespace hyfreedp::training {

// {"version", "comparability", "build" (the compiler), "torch", "cpu", "worker", "threads",
// "device", "arithmetic"}. "worker" is the hash of this program (trial/build.h); `device` is as in
// a trial's config. The worker adds "commit", on which no result depends.
//
// "arithmetic": the first 16 hexadecimal digits of the SHA-256 of the bits of fixed products,
// convolutions and exponentials, computed on the device. What their libraries are told outside the
// program (MKL_CBWR, MKL_ENABLE_INSTRUCTIONS, ONEDNN_MAX_CPU_ISA, ...) may change sums on one and
// the same machine, and a state that goes on with other sums under the noise of the first would
// give away their difference.
json::object fingerprint(const std::string& device);

}  // namespace hyfreedp::training
