// `hyfreedp export-cell`: a cell of a table as one small file that `hyfreedp verify` checks without
// the database.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace hyfreedp::cli {

int export_cell_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
