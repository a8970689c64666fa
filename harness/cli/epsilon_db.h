// Epsilon of what a database holds, derived anew from the executed events: `hyfreedp epsilon --db FILE --study ID | --trial ID`.
#pragma once

#include <ostream>
#include <string>

namespace hyfreedp::cli {

// kind "study": composes the executed events of its trials by the study's rule and prints epsilon beside the row's own;
// 1 where they differ. kind "trial": the trial alone, at the delta of each study that uses it. 2: bad input.
int epsilon_from_db(const std::string& db, const std::string& kind, const std::string& id, bool json,
                    std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
