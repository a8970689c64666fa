// The file of a database, before SQLite opens it.
#pragma once

#include <string>

#include "harness/base/result.h"

namespace hyfreedp::results {

// The database holds confidential values: its owner alone reads it. SQLite gives its side files the
// same mode. Does nothing where the file exists.
void make_private(const std::string& path);

// SQLite takes an empty file for a new database, and says little of what is neither.
Result<void> check_is_sqlite(const std::string& path);

// That there is no file `path`, and where databases are.
Error no_database(const std::string& path);

}  // namespace hyfreedp::results
