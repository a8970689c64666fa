// Finds and runs gnuplot.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp::plots {

// The first executable file of that name on PATH.
std::optional<std::string> find_program(const std::string& name);

// The error message if gnuplot is absent: what to install.
inline constexpr const char* kNoGnuplot =
    "gnuplot is not installed, so no plots were drawn. Debian: apt-get install gnuplot-nox";

// Runs `program` with `arguments` and waits. An exit status other than 0 is an error with what the
// program wrote to standard error.
Result<void> run_program(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace hyfreedp::plots
