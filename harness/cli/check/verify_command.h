// `hyfreedp verify`: checks a cell's file by itself.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace hyfreedp::cli {

int verify_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
