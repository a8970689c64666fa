// `hyfreedp trace SPEC ROW COL`: the runs, configs, versions, events and epsilons behind a cell of
// a table.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace hyfreedp::cli {

int trace_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
