// Checks that a database is whole: by SQLite's own checks, and for what the schema cannot say.
#pragma once

#include <string>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp::results {

// Returns the faults of the database at `path`, as sentences; empty: none. Nothing is changed.
//   - SQLite's integrity check (pages, indexes, constraints) and its check of foreign keys
//   - a concluded row whose reported run the database lacks
// It reads the whole file. The sentences name tables and rows, no run. An error where the file
// cannot be opened.
Result<std::vector<std::string>> integrity_problems(const std::string& path);

}  // namespace hyfreedp::results
