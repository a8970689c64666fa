#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

#include "results/store/states.h"
#include "results/store/store_state.h"

namespace hyfreedp::results {

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

Result<std::map<std::string, std::vector<json::object>>> Store::data() const {
  return state_->guarded([&]() -> Result<std::map<std::string, std::vector<json::object>>> {
    std::map<std::string, std::vector<json::object>> found;
    SQLite::Statement select(state_->database,
                             "SELECT dataset, identity FROM data ORDER BY dataset, identity");
    while (select.executeStep()) {
      Columns columns(select, state_->path);
      const auto dataset = columns.text();
      found[dataset].push_back(columns.object());
      if (auto outcome = columns.outcome(); !outcome) return outcome.error();
    }
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
      study.composition = columns.take(from_json<trial::Composition>(columns.parsed(), "composition"));
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
        "coalesce(json_extract(trial.config, '$.controller.name'), ''), study.failure_kind "
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
      const auto failure_kind = columns.text();
      if (auto outcome = columns.outcome(); !outcome) return in_context(state_->path, outcome.error());
      // A lost run has no result of any code, and is trained again.
      if (!may_be_tried_again(failure_kind)) found.push_back(std::move(code));
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
