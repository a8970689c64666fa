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

// The way in which SQLite opens a database that is only read. It makes files beside one that has a
// write-ahead log, which it cannot if the folder cannot be written; one without such a log, or with
// an empty one, it then reads as a file that nobody changes.
struct ReadAccess {
  std::string name;  // path or URI
  int flags = 0;     // of SQLite::Database
};
ReadAccess read_access(const std::string& path);
// Says what to do if that fails because of a log; empty if it does not.
std::string advice_on_log(const std::string& path);

// The error that there is no file `path`. It says where databases are.
Error no_database(const std::string& path);

}  // namespace hyfreedp::results
