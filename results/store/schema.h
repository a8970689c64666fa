// The database's schema and its migrations.
//
//   application_id  marks the file as this program's; another SQLite file is refused
//   migrations      one row for each schema version that was applied, oldest first; the largest is
//                   the file's version
//
// Beside the tables the file has views for people, whose columns results/VIEWS.md promises.
//
// A migration of a published version is never edited: a change of schema is a new entry in
// schema.cpp, and tests/data/results has a database of every published version.
#pragma once

#include <SQLiteCpp/Database.h>
#include <string>

#include "harness/base/result.h"

namespace hyfreedp::results {

inline constexpr int kApplicationId = 0x48594652;  // "HYFR"

// The file's schema version; 0 for an empty file. An error if the file belongs to another program.
Result<int> schema_version(SQLite::Database& database, const std::string& path);

// Brings the database to kSchemaVersion, one transaction a version; refuses a newer one. `path` is
// for messages.
Result<void> migrate(SQLite::Database& database, const std::string& path);

}  // namespace hyfreedp::results
