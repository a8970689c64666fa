// `hyfreedp replay`: methods over a stored pool of runs, thousands of times, without training.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace hyfreedp::cli {

int replay_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
