#include "results/store/store.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "harness/base/files.h"
#include "results/store/connection.h"
#include "results/store/database_file.h"
#include "results/store/records.h"
#include "results/store/rows.h"
#include "results/store/statement.h"
#include "results/store/states.h"

namespace hyfreedp::results {
namespace {

bool same_metrics(const std::vector<trial::MetricRecord>& a, const std::vector<trial::MetricRecord>& b) {
  const auto keyed = [](const std::vector<trial::MetricRecord>& metrics) {
    std::map<std::string, std::string> result;
    for (const auto& metric : metrics) {
      result[fmt::format("{} {} {}", metric.step, metric.split, metric.name)] =
          canonical_json(as_json(metric));
    }
    return result;
  };
  return keyed(a) == keyed(b);
}

}  // namespace

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
            "INSERT INTO trials ({}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT "
            "(id) DO "
            "UPDATE "
            "SET config = excluded.config, state = excluded.state, failure_kind = excluded.failure_kind, "
            "failure_message = excluded.failure_message, notes = excluded.notes, counts = excluded.counts, "
            "fingerprint = excluded.fingerprint, attempts = excluded.attempts, seconds = excluded.seconds, "
            "events = excluded.events, builds = excluded.builds, charged = excluded.charged, "
            "begun_after = excluded.begun_after, peak_bytes = excluded.peak_bytes, "
            "device_peak_bytes = excluded.device_peak_bytes",
            kTrialColumns));
    BoundRow(*upsert) << trial.id << canonical_json(trial.config) << name_of(trial.state)
                      << trial.failure_kind << trial.failure_message << canonical_json(as_json(trial.notes))
                      << canonical_json(as_json(trial.counts)) << canonical_json(trial.fingerprint)
                      << trial.attempts << trial.seconds
                      << canonical_json(accounting::events_to_json({.events = trial.events}))
                      << canonical_json(as_json(trial.builds)) << canonical_json(to_json(trial.charged))
                      << trial.begun_after << trial.peak_bytes << trial.device_peak_bytes;
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

  // For the table's CHECK of `visibility` SQLite builds the list of valid names anew for each row,
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
    BoundRow(insert) << study.id << study.spec << study.method << canonical_json(study.composition)
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
                      << study.reported_trial << canonical_json(study.composition) << study.label
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

Store::Store(std::unique_ptr<State> state, bool writes) : state_(std::move(state)), writes_(writes) {}
Store::~Store() {
  if (writes_) state_->put_log_away();
}

Result<std::unique_ptr<Store>> Store::open(const std::string& path, Mode mode) {
  const bool read_only = mode == Mode::read_only;
  if (read_only && !std::filesystem::exists(path)) {
    return no_database(path);
  }
  if (auto checked = check_is_sqlite(path); !checked) return checked.error();
  if (!read_only) {
    const auto folder = std::filesystem::path(path).parent_path().string();
    if (auto made = make_folders(folder.empty() ? "." : folder); !made) return made.error();
    if (path != ":memory:") make_private(path);
  }
  const auto access =
      read_only ? read_access(path) : ReadAccess{path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
  const auto advised = [&](const std::string& problem) {
    const auto advice = read_only ? advice_on_log(path) : "";
    return error(advice.empty() ? problem : problem + "." + advice);
  };
  try {
    auto state = std::make_unique<State>(path, access.name, access.flags);
    if (auto prepared = state->prepare(read_only); !prepared) return advised(prepared.error().message);
    return std::unique_ptr<Store>(new Store(std::move(state), !read_only && path != ":memory:"));
  } catch (const SQLite::Exception& failure) {
    return advised(path + ": cannot open the database (" + failure.what() + ")");
  }
}

Result<std::unique_ptr<Store>> Store::in_memory() { return open(":memory:", Mode::read_write); }

Result<void> Store::put_spec(const SpecRecord& spec, bool replace) {
  return state_->guarded([&]() -> Result<void> {
    auto& database = state_->database;
    State::Change change(*state_);
    auto existing = this->spec(spec.name);
    if (!existing) return existing.error();
    if (*existing && (**existing).hash == spec.hash) return {};
    if (*existing && !replace) {
      return error(
          state_->path + ": it already holds a different spec named '" + spec.name +
          "'. Use --out DIR, give the spec another name, or --replace to discard the old rows of that name.");
    }
    if (*existing) {
      if (auto retired = state_->retire_studies(spec.name); !retired) return retired.error();
      // its studies go with it
      SQLite::Statement remove(database, "DELETE FROM specs WHERE name = ?");
      remove.bind(1, spec.name);
      remove.exec();
    }
    SQLite::Statement insert(
        database, "INSERT INTO specs (name, hash, resolved, text, version) VALUES (?, ?, ?, ?, ?)");
    BoundRow(insert) << spec.name << spec.hash << canonical_json(spec.resolved) << spec.text << spec.version;
    insert.exec();
    change.commit();
    return {};
  });
}

Result<void> Store::amend_spec(const SpecRecord& spec, const std::vector<std::string>& leaving) {
  return state_->guarded([&]() -> Result<void> {
    State::Change change(*state_);
    for (const auto& id : leaving) {
      const auto study = this->study(id);
      if (!study) return study.error();
      if (!*study) continue;
      state_->write_retired({id, (**study).spec, (**study).method, (**study).composition, (**study).trials});
      SQLite::Statement remove(state_->database, "DELETE FROM studies WHERE id = ?");
      remove.bind(1, id);
      remove.exec();
    }
    SQLite::Statement update(state_->database,
                             "UPDATE specs SET hash = ?, resolved = ?, text = ?, version = ? WHERE name = ?");
    BoundRow(update) << spec.hash << canonical_json(spec.resolved) << spec.text << spec.version << spec.name;
    if (update.exec() != 1) return error("the database has no spec '" + spec.name + "'.");
    change.commit();
    return {};
  });
}

Result<void> Store::put_trial(const TrialRecord& trial, const std::vector<trial::StepRecord>& steps,
                              const std::vector<trial::MetricRecord>& metrics) {
  return state_->guarded([&]() -> Result<void> {
    State::Change change(*state_);
    auto existing = state_->trial(trial.id);
    if (!existing) return existing.error();
    if (*existing && is_final(**existing)) {
      if (same_outcome(**existing, trial) && same_metrics(state_->metrics(trial.id, true), metrics))
        return {};
      return error("trial " + trial.id + " is " + name_of((**existing).state) +
                   " in the database and cannot be changed; a new run of it is a new release (--fresh).");
    }
    state_->write_trial(trial);
    const auto number = state_->trial_number(trial.id);
    HYFREEDP_CHECK(number.has_value(), "a trial just written is not there");
    state_->write_steps(*number, steps);
    state_->write_metrics(*number, metrics);
    change.commit();
    return {};
  });
}

Result<void> Store::put_system(const std::string& trial, const std::vector<SystemSample>& samples) {
  if (samples.empty()) return {};
  return state_->guarded([&]() -> Result<void> {
    State::Change change(*state_);
    const auto number = state_->trial_number(trial);
    if (!number) return error("The database has no trial " + trial + ".");
    SQLite::Statement next(state_->database,
                           "SELECT coalesce(max(execution) + 1, 0) FROM run_samples WHERE trial = ?");
    next.bind(1, *number);
    next.executeStep();
    const std::int64_t execution = next.getColumn(0).getInt64();
    SQLite::Statement insert(state_->database,
                             "INSERT INTO run_samples (trial, execution, position, seconds, cpu_share, "
                             "resident_bytes, device_bytes) VALUES (?, ?, ?, ?, ?, ?, ?)");
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto& sample = samples[i];
      BoundRow(insert) << *number << execution << static_cast<std::int64_t>(i) << sample.seconds
                       << sample.cpu_share << sample.resident_bytes << sample.device_bytes;
      insert.exec();
      insert.reset();
    }
    change.commit();
    return {};
  });
}

Result<void> Store::put_study(const StudyRecord& study) {
  return state_->guarded([&]() -> Result<void> {
    State::Change change(*state_);
    auto existing = this->study(study.id);
    if (!existing) return existing.error();
    if (*existing && is_final(**existing)) {
      if (same_outcome(**existing, study)) return {};
      return error("study " + study.id + " is concluded in the database and cannot be changed.");
    }
    state_->write_study(study);
    change.commit();
    return {};
  });
}

Result<void> Store::put_retired(const RetiredStudy& study) {
  return state_->guarded([&]() -> Result<void> {
    State::Change change(*state_);
    const auto known = retired_studies();
    if (!known) return known.error();
    const bool is_there = std::ranges::any_of(*known, [&](const RetiredStudy& one) {
      return one.id == study.id && one.spec == study.spec && one.method == study.method &&
             one.composition == study.composition && one.trials == study.trials;
    });
    if (!is_there) state_->write_retired(study);
    change.commit();
    return {};
  });
}

Result<void> Store::write_together(const std::function<Result<void>()>& body) {
  return state_->write_together(body);
}

Result<void> Store::put_note(const StudyNote& note) {
  return state_->guarded([&]() -> Result<void> {
    auto& database = state_->database;
    State::Change change(*state_);
    for (const char* table : {"notes", "tags"}) {
      SQLite::Statement clear(database, fmt::format("DELETE FROM {} WHERE study = ?", table));
      clear.bind(1, note.study);
      clear.exec();
    }
    if (!note.note.empty()) {
      SQLite::Statement insert(database, "INSERT INTO notes (study, note) VALUES (?, ?)");
      BoundRow(insert) << note.study << note.note;
      insert.exec();
    }
    for (const auto& tag : note.tags) {
      SQLite::Statement insert(database, "INSERT OR IGNORE INTO tags (study, tag) VALUES (?, ?)");
      BoundRow(insert) << note.study << tag;
      insert.exec();
    }
    change.commit();
    return {};
  });
}

Result<std::map<std::string, StudyNote>> Store::notes() const {
  return state_->guarded([&]() -> Result<std::map<std::string, StudyNote>> {
    std::map<std::string, StudyNote> found;
    const auto of = [&](const std::string& study) -> StudyNote& {
      auto& note = found[study];
      note.study = study;
      return note;
    };
    SQLite::Statement notes(state_->database, "SELECT study, note FROM notes");
    while (notes.executeStep()) of(notes.getColumn(0).getString()).note = notes.getColumn(1).getString();
    SQLite::Statement tags(state_->database, "SELECT study, tag FROM tags ORDER BY study, tag");
    while (tags.executeStep())
      of(tags.getColumn(0).getString()).tags.push_back(tags.getColumn(1).getString());
    return found;
  });
}

Result<std::vector<SpecRecord>> Store::specs() const {
  return state_->guarded([&]() -> Result<std::vector<SpecRecord>> {
    std::vector<SpecRecord> found;
    SQLite::Statement select(state_->database,
                             "SELECT name, hash, resolved, text, version FROM specs ORDER BY name");
    while (select.executeStep()) {
      Columns columns(select, state_->path);
      SpecRecord spec;
      spec.name = columns.text();
      spec.hash = columns.text();
      spec.resolved = columns.object();
      spec.text = columns.text();
      spec.version = columns.text();
      if (auto outcome = columns.outcome(); !outcome) return outcome.error();
      found.push_back(std::move(spec));
    }
    return found;
  });
}

Result<std::optional<SpecRecord>> Store::spec(const std::string& name) const {
  auto all = specs();
  if (!all) return all.error();
  for (auto& spec : *all) {
    if (spec.name == name) return std::optional<SpecRecord>(std::move(spec));
  }
  return std::optional<SpecRecord>{};
}

Result<std::optional<TrialRecord>> Store::trial(const std::string& id) const {
  return state_->guarded([&] { return state_->trial(id); });
}

Result<std::vector<std::string>> Store::trial_ids(const std::string& spec) const {
  return state_->guarded([&]() -> Result<std::vector<std::string>> {
    std::vector<std::string> ids;
    SQLite::Statement select(
        state_->database,
        "SELECT DISTINCT trials.id FROM studies JOIN study_trials ON study_trials.study = "
        "studies.id JOIN trials ON trials.id = study_trials.trial WHERE studies.spec = ? "
        "ORDER BY trials.id");
    select.bind(1, spec);
    while (select.executeStep()) ids.push_back(select.getColumn(0).getString());
    return ids;
  });
}

Result<std::set<std::string>> Store::finished_trials() const {
  return state_->guarded([&]() -> Result<std::set<std::string>> {
    std::set<std::string> ids;
    SQLite::Statement select(state_->database, "SELECT id FROM trials WHERE state = 'finished'");
    while (select.executeStep()) ids.insert(select.getColumn(0).getString());
    return ids;
  });
}

Result<std::vector<TrialRecord>> Store::trials() const {
  return state_->guarded([&]() -> Result<std::vector<TrialRecord>> {
    std::vector<TrialRecord> found;
    SQLite::Statement select(state_->database,
                             fmt::format("SELECT {} FROM trials ORDER BY number", kTrialColumns));
    while (select.executeStep()) {
      auto trial = read_trial(select);
      if (!trial) return in_context(state_->path, trial.error());
      found.push_back(std::move(*trial));
    }
    return found;
  });
}

Result<std::vector<RetiredStudy>> Store::retired_studies() const {
  return state_->guarded([&]() -> Result<std::vector<RetiredStudy>> {
    std::vector<RetiredStudy> found;
    SQLite::Statement select(
        state_->database,
        "SELECT id, spec, method, composition, trials FROM retired_studies ORDER BY number");
    while (select.executeStep()) {
      Columns columns(select, state_->path);
      RetiredStudy study;
      study.id = columns.text();
      study.spec = columns.text();
      study.method = columns.text();
      study.composition = columns.object();
      study.trials = columns.take(from_json<std::vector<std::string>>(columns.parsed(), "trials"));
      if (auto outcome = columns.outcome(); !outcome) return outcome.error();
      found.push_back(std::move(study));
    }
    return found;
  });
}

Result<std::vector<StudyRecord>> Store::studies(const std::string& spec) const {
  return state_->guarded([&] { return state_->studies("spec", spec); });
}

Result<std::vector<StudyRecord>> Store::all_studies() const {
  const auto known = specs();
  if (!known) return known.error();
  std::vector<StudyRecord> all;
  for (const auto& spec : *known) {
    auto found = studies(spec.name);
    if (!found) return found.error();
    std::ranges::move(*found, std::back_inserter(all));
  }
  return all;
}

Result<std::vector<RowCode>> Store::row_codes(const std::string& spec) const {
  return state_->guarded([&]() -> Result<std::vector<RowCode>> {
    const State::Prepared select(
        *state_,
        "SELECT DISTINCT study.panel, study.row, study.method, study.code, "
        "json_extract(trial.fingerprint, '$.code'), "
        "coalesce(json_extract(trial.fingerprint, '$.worker'), ''), "
        "coalesce(json_extract(trial.config, '$.optimizer.name'), ''), "
        "coalesce(json_extract(trial.config, '$.controller.name'), '') "
        "FROM studies AS study "
        "JOIN study_trials AS listed ON listed.study = study.id "
        "JOIN trials AS trial ON trial.id = listed.trial "
        "WHERE study.spec = ? AND study.state <> 'open' AND study.failure_kind NOT IN (?, ?)");
    select->bind(1, spec);
    select->bind(2, kCancelledStudy);
    select->bind(3, kNotNeeded);
    std::vector<RowCode> found;
    while (select->executeStep()) {
      Columns columns(*select, "row's code");
      RowCode code;
      code.panel = columns.text();
      code.row = columns.text();
      code.method = columns.text();
      code.method_code = columns.text();
      if (const auto text = columns.optional_text()) {
        if (auto parsed = columns.take(parse_json(*text, "code")); parsed.is_object())
          code.code = std::move(parsed.get_object());
      }
      code.worker = columns.text();
      code.optimizer = columns.text();
      code.controller = columns.text();
      if (auto outcome = columns.outcome(); !outcome) return in_context(state_->path, outcome.error());
      found.push_back(std::move(code));
    }
    return found;
  });
}

Result<std::optional<StudyRecord>> Store::study(const std::string& id) const {
  return state_->guarded([&]() -> Result<std::optional<StudyRecord>> {
    auto found = state_->studies("id", id);
    if (!found) return found.error();
    if (found->empty()) return std::optional<StudyRecord>{};
    return std::optional<StudyRecord>(std::move(found->front()));
  });
}

Result<std::vector<trial::MetricRecord>> Store::metrics(const std::string& trial, bool confidential) const {
  return state_->guarded(
      [&]() -> Result<std::vector<trial::MetricRecord>> { return state_->metrics(trial, confidential); });
}

Result<std::vector<trial::MetricRecord>> Store::last_metrics(const std::string& trial,
                                                             const std::string& split,
                                                             const std::string& name, std::int64_t count,
                                                             bool confidential) const {
  return state_->guarded([&]() -> Result<std::vector<trial::MetricRecord>> {
    return state_->last_metrics(trial, split, name, count, confidential);
  });
}

Result<std::vector<trial::StepRecord>> Store::steps(const std::string& trial) const {
  return state_->guarded([&]() -> Result<std::vector<trial::StepRecord>> {
    std::vector<trial::StepRecord> found;
    SQLite::Statement select(
        state_->database,
        "SELECT step, hash, scalars FROM steps JOIN trials ON trials.number = steps.trial "
        "WHERE trials.id = ? ORDER BY step");
    select.bind(1, trial);
    while (select.executeStep()) {
      Columns columns(select, state_->path);
      trial::StepRecord step;
      step.step = columns.integer();
      step.hash = columns.text();
      step.scalars = columns.take(from_json<std::map<std::string, double>>(columns.parsed(), "scalars"));
      if (auto outcome = columns.outcome(); !outcome) return outcome.error();
      found.push_back(std::move(step));
    }
    return found;
  });
}

Result<std::vector<SystemSample>> Store::system(const std::string& trial) const {
  return state_->guarded([&]() -> Result<std::vector<SystemSample>> {
    std::vector<SystemSample> found;
    SQLite::Statement select(
        state_->database,
        "SELECT execution, run_samples.seconds, cpu_share, resident_bytes, device_bytes FROM run_samples "
        "JOIN trials ON trials.number = run_samples.trial WHERE trials.id = ? ORDER BY execution, position");
    select.bind(1, trial);
    while (select.executeStep()) {
      Columns columns(select, state_->path);
      SystemSample sample;
      sample.execution = columns.integer();
      sample.seconds = columns.real();
      sample.cpu_share = columns.real();
      sample.resident_bytes = columns.integer();
      sample.device_bytes = columns.integer();
      if (auto outcome = columns.outcome(); !outcome) return outcome.error();
      found.push_back(sample);
    }
    return found;
  });
}

}  // namespace hyfreedp::results
