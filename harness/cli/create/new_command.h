// `hyfreedp new`: starts a new method, optimizer, learning-rate controller or dataset from a
// template that is compiled and tested here.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace hyfreedp::cli {

int new_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
