#include "results/store/schema.h"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <array>
#include <fmt/format.h>

#include "harness/base/version.h"
#include "results/store/store.h"

namespace hyfreedp::results {
namespace {

// What of it is for its owner's eyes alone stands in README.md, table by table: under private
// selection study_trials and trials hold the number of runs, which must not be told.
//
// Structured values are canonical JSON text. NULL in a REAL column of `metrics` is NaN, which
// SQLite cannot store.
constexpr const char* kVersion1 = R"sql(
CREATE TABLE specs (
  name     TEXT PRIMARY KEY NOT NULL,
  hash     TEXT NOT NULL,
  resolved TEXT NOT NULL,
  text     TEXT NOT NULL,
  version  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE trials (
  number          INTEGER PRIMARY KEY,
  id              TEXT NOT NULL UNIQUE,
  config          TEXT NOT NULL,
  state           TEXT NOT NULL CHECK (state IN ('running', 'finished', 'failed')),
  failure_kind    TEXT NOT NULL,
  failure_message TEXT NOT NULL,
  notes           TEXT NOT NULL,
  counts          TEXT NOT NULL,
  fingerprint     TEXT NOT NULL,
  attempts        INTEGER NOT NULL,
  seconds         REAL NOT NULL,
  events          TEXT NOT NULL
) STRICT;

CREATE TABLE steps (
  trial   INTEGER NOT NULL REFERENCES trials (number) ON DELETE CASCADE,
  step    INTEGER NOT NULL,
  hash    TEXT NOT NULL,
  scalars TEXT NOT NULL,
  PRIMARY KEY (trial, step)
) STRICT, WITHOUT ROWID;

CREATE TABLE metrics (
  trial      INTEGER NOT NULL REFERENCES trials (number) ON DELETE CASCADE,
  step       INTEGER NOT NULL,
  split      TEXT NOT NULL,
  name       TEXT NOT NULL,
  value      REAL,
  visibility TEXT NOT NULL CHECK (visibility IN ('released', 'test', 'confidential')),
  PRIMARY KEY (trial, step, split, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE studies (
  id              TEXT PRIMARY KEY NOT NULL,
  spec            TEXT NOT NULL REFERENCES specs (name) ON DELETE CASCADE,
  panel           TEXT NOT NULL,
  row             TEXT NOT NULL,
  method          TEXT NOT NULL,
  epsilon_target  REAL,
  delta           REAL NOT NULL,
  seed            INTEGER NOT NULL,
  state           TEXT NOT NULL CHECK (state IN ('open', 'concluded', 'failed')),
  reported_trial  TEXT NOT NULL,
  composition     TEXT NOT NULL,
  label           TEXT NOT NULL,
  flags           TEXT NOT NULL,
  footnotes       TEXT NOT NULL,
  claimed_epsilon REAL,
  total           TEXT,
  training        TEXT,
  failure_kind    TEXT NOT NULL,
  failure_message TEXT NOT NULL,
  seconds         REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX studies_of_spec ON studies (spec, panel, row);

CREATE TABLE study_trials (
  study    TEXT NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  trial    TEXT NOT NULL,
  PRIMARY KEY (study, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX studies_of_trial ON study_trials (trial);
)sql";

// What a row that --fresh or --replace took out of the tables had cost: its trials stay, and
// without it nobody could say by which rule they compose.
constexpr const char* kVersion2 = R"sql(
CREATE TABLE retired_studies (
  number      INTEGER PRIMARY KEY,
  id          TEXT NOT NULL,
  spec        TEXT NOT NULL,
  method      TEXT NOT NULL,
  composition TEXT NOT NULL,
  trials      TEXT NOT NULL
) STRICT;
)sql";

// Which builds of the program a run was made by, as a JSON list (harness/trial/build.h). Of earlier
// runs nobody recorded it.
constexpr const char* kVersion3 = R"sql(
ALTER TABLE trials ADD COLUMN builds TEXT NOT NULL DEFAULT '[]';
)sql";

// What a trial is charged by attempt, as a JSON list, and while a worker has it, how many start
// lines its journal had before (TrialRecord).
constexpr const char* kVersion4 = R"sql(
ALTER TABLE trials ADD COLUMN charged TEXT NOT NULL DEFAULT '[]';
ALTER TABLE trials ADD COLUMN begun_after INTEGER;
)sql";

// The largest memory that a run took, in bytes; 0: not recorded, or no GPU.
constexpr const char* kVersion5 = R"sql(
ALTER TABLE trials ADD COLUMN peak_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE trials ADD COLUMN device_peak_bytes INTEGER NOT NULL DEFAULT 0;
)sql";

// Entry i brings version i to version i + 1.
constexpr std::array<const char*, kSchemaVersion> kMigrations = {kVersion1, kVersion2, kVersion3, kVersion4,
                                                                 kVersion5};

void apply(SQLite::Database& database, int version) {
  SQLite::Transaction transaction(database);
  database.exec(kMigrations[static_cast<std::size_t>(version) - 1]);
  SQLite::Statement insert(database, "INSERT INTO migrations (version, program) VALUES (?, ?)");
  insert.bind(1, version);
  insert.bind(2, kVersion);
  insert.exec();
  transaction.commit();
}

}  // namespace

Result<int> schema_version(SQLite::Database& database, const std::string& path) {
  const int application = database.execAndGet("PRAGMA application_id").getInt();
  const int tables = database.execAndGet("SELECT count(*) FROM sqlite_master").getInt();
  if (tables == 0) return 0;
  if (application != kApplicationId || !database.tableExists("migrations")) {
    return error(path + ": this SQLite file was not made by hyfreedp. Choose another folder with --out DIR.");
  }
  return database.execAndGet("SELECT coalesce(max(version), 0) FROM migrations").getInt();
}

Result<void> migrate(SQLite::Database& database, const std::string& path) {
  auto version = schema_version(database, path);
  if (!version) return version.error();
  if (*version > kSchemaVersion) {
    return error(
        fmt::format("{}: the database has schema {}, this program ({}) knows schema {} and older. Use the "
                    "newer hyfreedp that "
                    "wrote it, or another folder with --out DIR.",
                    path, *version, kVersion, kSchemaVersion));
  }
  if (*version == kSchemaVersion) return {};
  if (*version == 0) {
    database.exec(fmt::format("PRAGMA application_id = {}", kApplicationId));
    database.exec(
        "CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, program TEXT NOT NULL) STRICT");
  }
  for (int next = *version + 1; next <= kSchemaVersion; ++next) apply(database, next);
  return {};
}

}  // namespace hyfreedp::results
