// Every command of `hyfreedp` in one table, which dispatch, the overview and the tests of --help
// read.
//
// A command is one function in a file of its own, NAME_command.cpp, declared in the commands.h of
// its room: `int NAME_command(arguments, out, err)`. `arguments` are those after the command's
// name; results go to `out`, errors to `err`. Exit codes: 0 done; 1 the work ran and something in
// it failed unexpectedly; 2 bad input; 130 stopped by Ctrl-C.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace hyfreedp::cli {

using CommandFunction = int (*)(const std::vector<std::string>& arguments, std::ostream& out,
                                std::ostream& err);

struct Command {
  std::string name;
  std::string summary;
  std::string example;
  CommandFunction function = nullptr;
};

const std::vector<Command>& commands();

// `hyfreedp completion bash|zsh`: a script that completes commands and their options, made of what
// each command says of itself (kDescribe of common/command_line.h).
int completion_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

// Runs `hyfreedp ARGUMENTS`. No arguments or --help: the overview. An unknown command names the
// nearest one.
int dispatch(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
