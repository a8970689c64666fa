// Other programs: finding them in PATH, and running them without a shell.
#pragma once

#include <functional>
#include <map>
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
  std::string folder = {};                       // in which it runs; empty: this process's
  std::string output = {};                       // file for its standard output; empty: nowhere
  std::vector<std::string> without = {};         // variables that it does not get
  std::map<std::string, std::string> with = {};  // variables that it gets beside this process's own
  std::string input = {};                        // its standard input, as far as it reads
  // Gets each line of standard output, in place of a file, until it returns false. Then nobody
  // reads any more.
  std::function<bool(const std::string& line)> on_output = {};
  // Gets each line of standard error as it comes, in a thread of its own.
  std::function<void(const std::string& line)> on_errors = {};
};
struct ProgramEnd {
  int exit_code = 0;   // of one that a signal ended: the signal's number
  std::string errors;  // what it wrote to standard error

  // The last line of `errors` that is not empty.
  std::string last_words() const;
};

// Runs it and waits for it. An error where there is no such program, or it cannot be started.
Result<ProgramEnd> run_program(const ProgramCall& call);
// The same; an exit code other than 0 is an error with what it wrote to standard error.
Result<void> must_succeed(const ProgramCall& call);

}  // namespace hyfreedp
