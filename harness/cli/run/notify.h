// `hyfreedp run --notify COMMAND`: a command of the user's that is run when a run has ended.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "harness/base/result.h"

namespace hyfreedp::cli {

inline constexpr std::chrono::seconds kNotifyPatience{60};

// Runs `command` by /bin/sh -c with `variables` beside this process's environment, nothing on its
// input, and its output on the error stream, and waits for it. After `patience` it is stopped, with
// what it started. An error, a sentence about "--notify", if it could not be run, was stopped, or
// ended with another exit code than 0.
Result<void> run_notify(const std::string& command, const std::map<std::string, std::string>& variables,
                        std::chrono::milliseconds patience = kNotifyPatience);

}  // namespace hyfreedp::cli
