// `hyfreedp archive`: freezes a table with its figures, its spec and the part of the database that
// it rests on.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace hyfreedp::cli {

int archive_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
