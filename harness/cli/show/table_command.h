// Prints a spec's table from the database and writes DIR/NAME/table.md and table.csv again.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace hyfreedp::cli {

int table_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
