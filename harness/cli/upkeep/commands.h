// The commands of this room; each is a function in a file of its own, NAME_command.cpp. `arguments`
// are those after the command's name; harness/cli/commands.h says what a command returns.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace hyfreedp::cli {

// `hyfreedp doctor`: what is wrong with an output folder.
int doctor_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);
// `hyfreedp merge`: brings other folders' runs into one.
int merge_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
