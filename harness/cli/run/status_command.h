// `hyfreedp status`: what an output folder holds, and what is missing.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace hyfreedp::cli {

int status_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
