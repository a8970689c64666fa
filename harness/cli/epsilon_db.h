// `hyfreedp epsilon --db`: epsilon of a stored trial or study, re-derived from its executed events.
#pragma once

#include <iosfwd>
#include <string>

namespace hyfreedp::cli {

// `kind` is "trial" or "study". Prints with print_epsilon.h; returns the exit code (0, or 2 with a sentence on `err`).
int epsilon_from_db(const std::string& db, const std::string& kind, const std::string& id, bool json,
                    std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
