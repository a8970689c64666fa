// `hyfreedp epsilon --db FILE --study ID | --trial ID`: epsilon of a stored study or trial, derived
// again from the executed events.
#pragma once

#include <ostream>
#include <string>

namespace hyfreedp::cli {

// kind "study": composes the executed events of the study's trials by its rule and prints epsilon
// beside the recorded one; returns 1 if they differ. kind "trial": prices the trial alone, at the
// delta of each study that has it. Returns 2 for bad input.
int epsilon_from_db(const std::string& db, const std::string& kind, const std::string& id, bool json,
                    std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
