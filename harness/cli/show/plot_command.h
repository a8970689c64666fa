// Draws a spec's figures again: DIR/NAME/plots.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace hyfreedp::cli {

int plot_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
