// The database's schema and its migrations.
//
//   application_id  marks the file as ours; another SQLite file is refused.
//   migrations      one row a schema version that was applied, oldest first; the largest is the file's
//   version.
//
// A released migration is never edited: a change of schema is a new entry in schema.cpp, and
// tests/data/results keeps a database of every released version.
#pragma once

#include <SQLiteCpp/Database.h>
#include <string>

#include "harness/base/result.h"

namespace hyfreedp::results {

inline constexpr int kApplicationId = 0x48594652;  // "HYFR"

// 0: an empty file. An error where the file belongs to another program.
Result<int> schema_version(SQLite::Database& database, const std::string& path);

// Brings the database to kSchemaVersion, one transaction a version; refuses a newer one. `path` is for messages.
Result<void> migrate(SQLite::Database& database, const std::string& path);

}  // namespace hyfreedp::results
