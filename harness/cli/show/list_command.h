// `hyfreedp list KIND [--json]`: what a spec may name, with sources, options and defaults.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace hyfreedp::cli {

int list_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
