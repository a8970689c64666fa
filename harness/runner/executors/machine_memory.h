// The memory that the processes of this machine may have.
#pragma once

#include <cstdint>
#include <string>

namespace hyfreedp::runner {

// Bytes: what is built in, or the limit of this process's control group or one above it (version 1
// or 2), whichever is less. `root`: where /proc and /sys are; tests give another.
std::uint64_t machine_memory(const std::string& root = "/");

}  // namespace hyfreedp::runner
