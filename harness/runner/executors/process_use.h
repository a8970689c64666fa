// The processor time and memory that a process of this machine uses, as /proc says.
#pragma once

#include <optional>
#include <string>

namespace hyfreedp::runner {

struct ProcessUse {
  double cpu_seconds = 0;     // user and system, of all its threads, since it started
  double resident_bytes = 0;  // all that is in memory
  double own_bytes = 0;       // of these: without mapped files, whose pages others share
};

// None if the process is gone, or if the system has no /proc. `root`: for tests.
std::optional<ProcessUse> process_use(int process, const std::string& root = "/proc");

}  // namespace hyfreedp::runner
