#include "results/store/connection.h"

#include <SQLiteCpp/Backup.h>

#include "results/store/schema.h"
#include "results/store/store.h"

namespace hyfreedp::results {
namespace {

// readers and the one writer wait for each other that long
constexpr int kBusyMilliseconds = 10000;

}  // namespace

Connection::Connection(const std::string& file, const std::string& name, int flags)
    : path(file), database(name, flags, kBusyMilliseconds) {
  keep_references();
}

// Rows go with the row that they refer to. SQLite has this for a connection, not for a file.
void Connection::keep_references() { database.exec("PRAGMA foreign_keys = ON"); }

void Connection::put_log_away() noexcept {
  statements.clear();
  try {
    database.setBusyTimeout(0);  // whoever reads it may go on for long
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    database.exec("PRAGMA journal_mode = DELETE");
  } catch (const SQLite::Exception&) {  // is in use: the next writer does it
  }
}

Result<void> Connection::prepare(bool read_only) {
  return guarded([&]() -> Result<void> {
    if (!read_only) {
      database.exec("PRAGMA journal_mode = WAL");
      // The start of a run is recorded here before it is known anywhere else.
      database.exec("PRAGMA synchronous = FULL");
    }
    if (!read_only) return migrate(database, path);
    const auto version = schema_version(database, path);
    if (!version) return version.error();
    if (*version > 0 && *version < kSchemaVersion) continue_in_memory();
    if (auto migrated = migrate(database, path); !migrated) return migrated.error();
    return {};
  });
}

// A file of an older schema that is only to be read, such as the reference of a night, stays as
// it is: what is brought up to date is a copy.
void Connection::continue_in_memory() {
  SQLite::Database copy(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  SQLite::Backup(copy, database).executeStep();
  database = std::move(copy);
  keep_references();
}

Result<void> Connection::write_together(const std::function<Result<void>()>& body) {
  HYFREEDP_CHECK(!is_together, "write_together in itself");
  auto begun = guarded([&]() -> Result<void> { return database.exec("BEGIN IMMEDIATE"), Result<void>{}; });
  if (!begun) return begun;
  struct Together {
    explicit Together(Connection& given) : state(given) { state.is_together = true; }
    ~Together() {
      state.is_together = false;
      // `body` threw.
      if (!is_over) static_cast<void>(state.database.tryExec("ROLLBACK"));
    }
    Connection& state;
    bool is_over = false;
  } together(*this);
  const auto written = body();
  together.is_over = true;
  const auto committed = guarded([&]() -> Result<void> { return database.exec("COMMIT"), Result<void>{}; });
  if (!committed) static_cast<void>(database.tryExec("ROLLBACK"));
  return written ? committed : written;
}

}  // namespace hyfreedp::results
