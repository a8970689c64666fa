// Writes a spec's report again: DIR/NAME/report.html.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace hyfreedp::cli {

int report_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
