// The open database behind a Store: its statements, for store.cpp (which opens and writes) and
// store_reading.cpp. No other file includes it.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/store/connection.h"
#include "results/store/records.h"
#include "results/store/rows.h"
#include "results/store/statement.h"
#include "results/store/store.h"

namespace hyfreedp::results {

struct Store::State : Connection {
  using Connection::Connection;

  std::optional<std::int64_t> trial_number(const std::string& id) {
    const Prepared select(*this, "SELECT number FROM trials WHERE id = ?");
    select->bind(1, id);
    if (!select->executeStep()) return std::nullopt;
    return select->getColumn(0).getInt64();
  }

  Result<std::optional<TrialRecord>> trial(const std::string& id) {
    const Prepared select(*this, fmt::format("SELECT {} FROM trials WHERE id = ?", kTrialColumns));
    select->bind(1, id);
    if (!select->executeStep()) return std::optional<TrialRecord>{};
    auto record = read_trial(*select);
    if (!record) return in_context(path, record.error());
    return std::optional<TrialRecord>(std::move(*record));
  }

  Result<std::vector<StudyRecord>> studies(const std::string& condition, const std::string& argument) {
    std::vector<StudyRecord> found;
    const Prepared select(
        *this, fmt::format("SELECT {} FROM studies WHERE {} = ? ORDER BY panel, row, epsilon_target IS NULL, "
                           "epsilon_target, seed, id",
                           kStudyColumns, condition));
    select->bind(1, argument);
    while (select->executeStep()) {
      auto study = read_study(*select);
      if (!study) return in_context(path, study.error());
      study->trials = trials_of(study->id);
      found.push_back(std::move(*study));
    }
    return found;
  }

  std::vector<std::string> trials_of(const std::string& study) {
    std::vector<std::string> trials;
    const Prepared select(*this, "SELECT trial FROM study_trials WHERE study = ? ORDER BY position");
    select->bind(1, study);
    while (select->executeStep()) trials.push_back(select->getColumn(0).getString());
    return trials;
  }

  std::vector<trial::MetricRecord> metrics(const std::string& trial, bool confidential) {
    SQLite::Statement select(
        database,
        "SELECT step, split, name, value, visibility FROM metrics JOIN trials ON trials.number = "
        "metrics.trial "
        "WHERE trials.id = ? AND (visibility IN ('released', 'test') OR ?) ORDER BY step, split, name");
    select.bind(1, trial);
    select.bind(2, confidential ? 1 : 0);
    return read_metrics(select);
  }

  // The primary key is read backwards until there are enough.
  std::vector<trial::MetricRecord> last_metrics(const std::string& trial, const std::string& split,
                                                const std::string& name, std::int64_t count,
                                                bool confidential) {
    const Prepared select(*this,
                          "SELECT step, split, name, value, visibility FROM metrics "
                          "WHERE trial = (SELECT number FROM trials WHERE id = ?) AND split = ? AND name = ? "
                          "AND (visibility IN ('released', 'test') OR ?) ORDER BY step DESC LIMIT ?");
    select->bind(1, trial);
    select->bind(2, split);
    select->bind(3, name);
    select->bind(4, confidential ? 1 : 0);
    select->bind(5, count);
    auto found = read_metrics(*select);
    std::ranges::reverse(found);
    return found;
  }

  void write_trial(const TrialRecord& trial) {
    const Prepared upsert(
        *this,
        fmt::format(
            "INSERT INTO trials ({}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON "
            "CONFLICT (id) DO "
            "UPDATE "
            "SET config = excluded.config, state = excluded.state, failure_kind = excluded.failure_kind, "
            "failure_message = excluded.failure_message, notes = excluded.notes, counts = excluded.counts, "
            "fingerprint = excluded.fingerprint, attempts = excluded.attempts, seconds = excluded.seconds, "
            "events = excluded.events, builds = excluded.builds, charged = excluded.charged, "
            "begun_after = excluded.begun_after, peak_bytes = excluded.peak_bytes, "
            "device_peak_bytes = excluded.device_peak_bytes, begun_key = excluded.begun_key",
            kTrialColumns));
    BoundRow(*upsert) << trial.id << canonical_json(trial.config) << name_of(trial.state)
                      << trial.failure_kind << trial.failure_message << canonical_json(as_json(trial.notes))
                      << canonical_json(as_json(trial.counts)) << canonical_json(trial.fingerprint)
                      << trial.attempts << trial.seconds
                      << canonical_json(accounting::events_to_json({.events = trial.events}))
                      << canonical_json(as_json(trial.builds)) << canonical_json(to_json(trial.charged))
                      << trial.begun_after << trial.peak_bytes << trial.device_peak_bytes << trial.begun_key;
    upsert->exec();
  }

  void write_steps(std::int64_t number, const std::vector<trial::StepRecord>& steps) {
    const Prepared clear(*this, "DELETE FROM steps WHERE trial = ?");
    clear->bind(1, number);
    clear->exec();
    const Prepared insert(*this,
                          "INSERT OR REPLACE INTO steps (trial, step, hash, scalars) VALUES (?, ?, ?, ?)");
    for (const auto& step : steps) {
      BoundRow(*insert) << number << step.step << step.hash << canonical_json(as_json(step.scalars));
      insert->exec();
      insert->reset();
    }
  }

  // SQLite builds the list of valid names anew for each row, for the table's CHECK of `visibility`,
  // which takes longer than the rest of the row. Names of an enum need no check. (A statement that
  // was prepared without checks has none.)
  class Unchecked {
   public:
    explicit Unchecked(SQLite::Database& database) : database_(database) {
      database_.exec("PRAGMA ignore_check_constraints = ON");
    }
    ~Unchecked() { static_cast<void>(database_.tryExec("PRAGMA ignore_check_constraints = OFF")); }
    Unchecked(const Unchecked&) = delete;
    Unchecked& operator=(const Unchecked&) = delete;

   private:
    SQLite::Database& database_;
  };

  void write_metrics(std::int64_t number, const std::vector<trial::MetricRecord>& metrics) {
    const Prepared clear(*this, "DELETE FROM metrics WHERE trial = ?");
    clear->bind(1, number);
    clear->exec();
    static const std::string kInsert =
        "INSERT OR REPLACE INTO metrics (trial, step, split, name, value, visibility) VALUES (?, ?, ?, ?, ?, "
        "?)";
    // A few are not worth it: the pragma makes SQLite prepare every kept statement anew.
    constexpr std::size_t kFew = 64;
    if (metrics.size() <= kFew) {
      const Prepared insert(*this, kInsert);
      return insert_metrics(*insert, number, metrics);
    }
    const Unchecked unchecked(database);
    SQLite::Statement insert(database, kInsert);
    insert_metrics(insert, number, metrics);
  }

  static void insert_metrics(SQLite::Statement& insert, std::int64_t number,
                             const std::vector<trial::MetricRecord>& metrics) {
    for (const auto& metric : metrics) {
      const auto value = std::isnan(metric.value) ? std::optional<double>{} : metric.value;
      BoundRow(insert) << number << metric.step << metric.split << metric.name << value
                       << name_of(metric.visibility);
      insert.exec();
      insert.reset();
    }
  }

  void write_retired(const RetiredStudy& study) {
    SQLite::Statement insert(database,
                             "INSERT INTO retired_studies (id, spec, method, composition, trials) VALUES (?, "
                             "?, ?, ?, ?)");
    BoundRow(insert) << study.id << study.spec << study.method << canonical_json(study.composition.to_json())
                     << canonical_json(as_json(study.trials));
    insert.exec();
  }

  Result<void> retire_studies(const std::string& spec) {
    const auto leaving = studies("spec", spec);
    if (!leaving) return leaving.error();
    for (const auto& study : *leaving) {
      write_retired({study.id, study.spec, study.method, study.composition, study.trials});
    }
    return {};
  }

  void write_study(const StudyRecord& study) {
    const Prepared upsert(*this, fmt::format("INSERT OR REPLACE INTO studies ({}) VALUES (?, ?, ?, ?, "
                                             "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                                             "?, ?, ?)",
                                             kStudyColumns));
    BoundRow(*upsert) << study.id << study.spec << study.panel << study.row << study.method
                      << study.epsilon_target << study.delta << study.seed << name_of(study.state)
                      << study.reported_trial << canonical_json(study.composition.to_json()) << study.label
                      << canonical_json(as_json(study.flags)) << canonical_json(as_json(study.footnotes))
                      << study.claimed_epsilon << epsilon_column(study.total)
                      << epsilon_column(study.training) << study.failure_kind << study.failure_message
                      << study.seconds << study.code;
    upsert->exec();
    const Prepared clear(*this, "DELETE FROM study_trials WHERE study = ?");
    clear->bind(1, study.id);
    clear->exec();
    const Prepared insert(*this, "INSERT INTO study_trials (study, position, trial) VALUES (?, ?, ?)");
    for (std::size_t i = 0; i < study.trials.size(); ++i) {
      BoundRow(*insert) << study.id << static_cast<std::int64_t>(i) << study.trials[i];
      insert->exec();
      insert->reset();
    }
  }
};

}  // namespace hyfreedp::results
