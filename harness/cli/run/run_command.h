// `hyfreedp run SPEC.yaml`: the whole path of a comparison.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace hyfreedp::cli {

int run_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
