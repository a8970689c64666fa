// Other programs: finding them in PATH, and running them without a shell.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp {

// The first executable file of that name on PATH, as an absolute path.
std::optional<std::string> find_program(const std::string& name);

struct ProgramCall {
  std::string program;  // a path, or a name on PATH
  std::vector<std::string> arguments = {};
  std::string folder = {};                // in which it runs; empty: this process's
  std::string output = {};                // file for its standard output; empty: nowhere
  std::vector<std::string> without = {};  // variables of the environment that it does not get
};
struct ProgramEnd {
  int exit_code = 0;   // of one that a signal ended: the signal's number
  std::string errors;  // what it wrote to standard error
};

// Runs it and waits for it. An error where there is no such program, or it cannot be started.
Result<ProgramEnd> run_program(const ProgramCall& call);
// The same; an exit code other than 0 is an error with what it wrote to standard error.
Result<void> must_succeed(const ProgramCall& call);

}  // namespace hyfreedp
