// `hyfreedp odometer`: the composed epsilon of everything that was ever run in an output folder,
// for each dataset.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace hyfreedp::cli {

int odometer_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
