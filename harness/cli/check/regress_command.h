// `hyfreedp regress`: tonight's rows against a reference, for whoever runs a spec every night.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace hyfreedp::cli {

int regress_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
