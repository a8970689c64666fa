// The commands of this room; each is a function in a file of its own, NAME_command.cpp. `arguments`
// are those after the command's name; harness/cli/commands.h says what a command returns.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace hyfreedp::cli {

// `hyfreedp regress`: tonight's rows against a reference, for whoever runs a spec every night.
int regress_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

// `hyfreedp verify`: checks a cell's file by itself.
int verify_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
