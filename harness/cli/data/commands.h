// The commands of this room; each is a function in a file of its own, NAME_command.cpp. `arguments`
// are those after the command's name; harness/cli/commands.h says what a command returns.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace hyfreedp::cli {

// `hyfreedp data list|info|path|fetch|verify`: datasets and pretrained weights on this machine, and
// how they come to it.
int data_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
