// The commands of this room; each is a function in a file of its own, NAME_command.cpp. `arguments`
// are those after the command's name; harness/cli/commands.h says what a command returns.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace hyfreedp::cli {

// `hyfreedp epsilon`: epsilon of a list of events, of T steps given by flags, or of a stored trial
// or study.
// `arguments`: those after the command's name. Exit code: 0, or 2 with one sentence on `err` for
// bad input. An infinite epsilon is an answer (0).
int epsilon_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

// `hyfreedp calibrate`: the smallest noise for a target epsilon, and HyFreeDP's split between
// gradients and losses.
// `arguments`: those after the command's name. Exit code: 0, or 2 with one sentence on `err` for
// bad input or a target that no noise reaches.
int calibrate_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

// `hyfreedp odometer`: the composed epsilon of everything that was ever run in an output folder,
// for each dataset.
int odometer_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
