// Machine-readable extracts of the database: events of a trial, rows of a spec.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace hyfreedp::cli {

int export_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
