#include "results/store/schema.h"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <array>
#include <boost/algorithm/string/replace.hpp>
#include <fmt/format.h>

#include "harness/base/version.h"
#include "harness/trial/composition.h"
#include "results/store/store.h"

namespace hyfreedp::results {
namespace {

// README.md says, table by table, what only its owner may see: under private selection study_trials
// and trials hold the number of runs, which must not be told.
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

// The cost of rows that --fresh or --replace took out of the tables. Their trials stay, and this
// says by which rule they compose.
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

// The builds of the program that a run was made by, as a JSON list (harness/trial/build.h). It was
// not recorded for earlier runs.
constexpr const char* kVersion3 = R"sql(
ALTER TABLE trials ADD COLUMN builds TEXT NOT NULL DEFAULT '[]';
)sql";

// The charge of a trial by attempt, as a JSON list, and while a worker has it, how many start lines
// its journal had before (TrialRecord).
constexpr const char* kVersion4 = R"sql(
ALTER TABLE trials ADD COLUMN charged TEXT NOT NULL DEFAULT '[]';
ALTER TABLE trials ADD COLUMN begun_after INTEGER;
)sql";

// The largest memory that a run took, in bytes; 0: not recorded, or no GPU.
constexpr const char* kVersion5 = R"sql(
ALTER TABLE trials ADD COLUMN peak_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE trials ADD COLUMN device_peak_bytes INTEGER NOT NULL DEFAULT 0;
)sql";

// Views for people (results/VIEWS.md). A view has one line for each study, run, metric or release
// that may be shown: of a private selection its reported run alone (SHOWS_RUN_COUNT stands for
// trial::shows_run_count_sql()), and no confidential metric. `trials.number` is in none of them: it
// counts all runs.
constexpr const char* kVersion6 = R"sql(
CREATE VIEW cells AS
SELECT study.spec, study.panel, study.row, study.method, study.epsilon_target, study.seed, study.state,
       study.label,
       (SELECT group_concat(value, '; ') FROM json_each(study.flags)) AS flags,
       (SELECT 100 * value FROM metrics
        WHERE trial = reported.number AND split = 'test' AND name = 'accuracy'
              AND visibility IN ('released', 'test')
        ORDER BY step DESC LIMIT 1) AS test_accuracy_percent,
       (SELECT value FROM metrics
        WHERE trial = reported.number AND split = 'test' AND name = 'loss'
              AND visibility IN ('released', 'test')
        ORDER BY step DESC LIMIT 1) AS test_loss,
       CASE json_extract(study.total, '$.epsilon') WHEN 'inf' THEN 9e999
            ELSE json_extract(study.total, '$.epsilon') END AS epsilon_spent,
       study.claimed_epsilon AS epsilon_claimed,
       study.delta,
       CASE WHEN SHOWS_RUN_COUNT THEN study.seconds
            ELSE reported.seconds END AS seconds,
       study.failure_kind, study.failure_message,
       reported.id AS run
FROM studies AS study
LEFT JOIN trials AS reported ON study.state = 'concluded' AND reported.id = study.reported_trial;

CREATE VIEW epsilon AS
WITH priced AS (
  SELECT *,
         CASE json_extract(training, '$.epsilon') WHEN 'inf' THEN 9e999
              ELSE json_extract(training, '$.epsilon') END AS of_training,
         CASE json_extract(total, '$.epsilon') WHEN 'inf' THEN 9e999
              ELSE json_extract(total, '$.epsilon') END AS of_total
  FROM studies
  WHERE total IS NOT NULL
)
SELECT spec, panel, row, method, epsilon_target, seed, label,
       of_training AS training, max(0, of_total - of_training) AS tuning, of_total AS total,
       claimed_epsilon AS claimed, delta,
       json_extract(total, '$.accountant') AS accountant,
       json_extract(composition, '$.rule') AS composition
FROM priced;

CREATE VIEW runs AS
SELECT study.spec, study.panel, study.row, study.epsilon_target, study.seed, trial.id AS run,
       trial.id = study.reported_trial AS reported,
       trial.state, trial.failure_kind, trial.failure_message,
       json_extract(trial.config, '$.dataset.name') AS dataset,
       json_extract(trial.config, '$.model.name') AS model,
       json_extract(trial.config, '$.optimizer.name') AS optimizer,
       json_extract(trial.config, '$.controller.name') AS controller,
       json_extract(trial.config, '$.steps') AS steps,
       trial.seconds,
       nullif(trial.peak_bytes, 0) AS peak_bytes,
       nullif(trial.device_peak_bytes, 0) AS device_peak_bytes,
       trial.config
FROM studies AS study
JOIN study_trials AS listed ON listed.study = study.id
JOIN trials AS trial ON trial.id = listed.trial
WHERE trial.id = study.reported_trial
      OR SHOWS_RUN_COUNT;

CREATE VIEW run_metrics AS
SELECT runs.spec, runs.panel, runs.row, runs.epsilon_target, runs.seed, runs.run, runs.reported,
       metric.step, metric.split, metric.name AS metric, metric.value, metric.visibility
FROM runs
JOIN trials AS trial ON trial.id = runs.run
JOIN metrics AS metric ON metric.trial = trial.number
WHERE metric.visibility IN ('released', 'test');

CREATE VIEW run_events AS
SELECT runs.spec, runs.panel, runs.row, runs.epsilon_target, runs.seed, runs.run, runs.reported,
       event.key AS position,
       json_extract(event.value, '$.type') AS type,
       coalesce(json_extract(event.value, '$.split'), 'private_train') AS split,
       json_extract(event.value, '$.sample_rate') AS sample_rate,
       coalesce(json_extract(event.value, '$.count'), 1) AS batches,
       json_extract(part.value, '$.purpose') AS purpose,
       CASE WHEN json_extract(event.value, '$.type') IN ('batch', 'poisson-gaussian')
            THEN coalesce(json_extract(part.value, '$.noise'), 'gaussian') END AS noise,
       coalesce(json_extract(part.value, '$.noise_multiplier'), json_extract(event.value, '$.noise_multiplier'))
         AS noise_multiplier,
       coalesce(json_extract(part.value, '$.count'), 1) AS releases_per_batch,
       event.value AS event
FROM runs
JOIN trials AS trial ON trial.id = runs.run
JOIN json_each(trial.events, '$.events') AS event
LEFT JOIN json_each(event.value, '$.releases') AS part;
)sql";

// Notes and tags that users write about studies. They have no reference to `studies`, whose rows
// are replaced whenever a study's state is written.
//
// Samples of the machine over time while a run used it (SystemSample), and the view of them. Memory
// follows the realised batch sizes a little, so the view rounds it up to steps of 64 MiB; and a
// worker's memory tells of the runs before, so a private selection's reported run is not in it.
constexpr const char* kVersion7 = R"sql(
CREATE TABLE notes (
  study TEXT PRIMARY KEY NOT NULL,
  note  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tags (
  study TEXT NOT NULL,
  tag   TEXT NOT NULL,
  PRIMARY KEY (study, tag)
) STRICT, WITHOUT ROWID;

CREATE VIEW study_notes AS
SELECT study.spec, study.panel, study.row, study.epsilon_target, study.seed,
       written.note,
       (SELECT group_concat(tag, ' ') FROM (SELECT tag FROM tags WHERE tags.study = study.id ORDER BY tag)) AS tags
FROM studies AS study
LEFT JOIN notes AS written ON written.study = study.id
WHERE written.note IS NOT NULL OR study.id IN (SELECT study FROM tags);

CREATE TABLE run_samples (
  trial          INTEGER NOT NULL REFERENCES trials (number) ON DELETE CASCADE,
  execution      INTEGER NOT NULL,
  position       INTEGER NOT NULL,
  seconds        REAL NOT NULL,
  cpu_share      REAL NOT NULL,
  resident_bytes INTEGER NOT NULL,
  device_bytes   INTEGER NOT NULL,
  PRIMARY KEY (trial, execution, position)
) STRICT, WITHOUT ROWID;

CREATE VIEW run_system AS
SELECT runs.spec, runs.panel, runs.row, runs.epsilon_target, runs.seed, runs.run, runs.reported,
       sample.execution, sample.seconds, sample.cpu_share,
       (sample.resident_bytes + 67108863) / 67108864 * 67108864 AS resident_bytes,
       nullif((sample.device_bytes + 67108863) / 67108864 * 67108864, 0) AS device_bytes
FROM runs
JOIN studies AS study ON study.spec = runs.spec AND study.panel = runs.panel AND study.row = runs.row
                         AND study.epsilon_target IS runs.epsilon_target AND study.seed = runs.seed
JOIN trials AS trial ON trial.id = runs.run
JOIN run_samples AS sample ON sample.trial = trial.number
WHERE SHOWS_RUN_COUNT;
)sql";

// The code of the method that concluded a study (harness/trial/code_marks.h); that of its runs is
// in their fingerprints.
constexpr const char* kVersion8 = R"sql(
ALTER TABLE studies ADD COLUMN code TEXT NOT NULL DEFAULT '';
)sql";

// The identities of the data of the specs that were run (datasets/same_data.h).
constexpr const char* kVersion9 = R"sql(
CREATE TABLE data (
  dataset  TEXT NOT NULL,
  identity TEXT NOT NULL,
  PRIMARY KEY (dataset, identity)
) STRICT, WITHOUT ROWID;
)sql";

// The key file that a worker found when it got a trial (TrialRecord).
constexpr const char* kVersion10 = R"sql(
ALTER TABLE trials ADD COLUMN begun_key TEXT NOT NULL DEFAULT '';
)sql";

// Entry i brings version i to version i + 1.
constexpr std::array<const char*, kSchemaVersion> kMigrations = {kVersion1, kVersion2, kVersion3, kVersion4,
                                                                 kVersion5, kVersion6, kVersion7, kVersion8,
                                                                 kVersion9, kVersion10};

void apply(SQLite::Database& database, int version) {
  SQLite::Transaction transaction(database);
  std::string sql = kMigrations[static_cast<std::size_t>(version) - 1];
  boost::algorithm::replace_all(sql, "SHOWS_RUN_COUNT", trial::shows_run_count_sql("study.composition"));
  database.exec(sql);
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
