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
#include "results/store/database_file.h"
#include "results/store/records.h"
#include "results/store/states.h"
#include "results/store/store_state.h"

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

Store::Store(std::unique_ptr<State> state, Mode mode, bool in_file)
    : state_(std::move(state)), mode_(mode), in_file_(in_file) {}
Store::~Store() {
  if (mode_ == Mode::read_write && in_file_) state_->put_log_away();
}

Result<std::unique_ptr<Store>> Store::open(const std::string& path, Mode mode) {
  const bool read_only = mode != Mode::read_write;
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
    if (mode == Mode::scratch) state->continue_in_memory();
    return std::unique_ptr<Store>(new Store(std::move(state), mode, path != ":memory:"));
  } catch (const SQLite::Exception& failure) {
    return advised(path + ": cannot open the database (" + failure.what() + ")");
  }
}

Result<std::unique_ptr<Store>> Store::in_memory(Mode mode) {
  auto store = open(":memory:", Mode::read_write);
  if (store) (**store).mode_ = mode;
  return store;
}

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

Result<void> Store::put_data(const std::string& dataset, const json::object& identity) {
  return state_->guarded([&]() -> Result<void> {
    State::Change change(*state_);
    SQLite::Statement insert(state_->database,
                             "INSERT OR IGNORE INTO data (dataset, identity) VALUES (?, ?)");
    BoundRow(insert) << dataset << canonical_json(identity);
    insert.exec();
    change.commit();
    return {};
  });
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

}  // namespace hyfreedp::results
