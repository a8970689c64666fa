// `hyfreedp epsilon`: epsilon of a list of events, of T steps given by flags, or of a stored trial
// or study.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace hyfreedp::cli {

// `arguments`: those after the command's name. Exit code: 0, or 2 with one sentence on `err` for
// bad input. An infinite epsilon is an answer (0).
int epsilon_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
