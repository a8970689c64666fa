// `hyfreedp calibrate`: the smallest noise for a target epsilon, and HyFreeDP's split between
// gradients and losses.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace hyfreedp::cli {

// `arguments`: those after the command's name. Exit code: 0, or 2 with one sentence on `err` for
// bad input or a target that no noise reaches.
int calibrate_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
