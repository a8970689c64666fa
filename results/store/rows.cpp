#include "results/store/rows.h"

#include <limits>
#include <map>

#include "results/store/records.h"
#include "results/store/statement.h"

namespace hyfreedp::results {

Result<TrialRecord> read_trial(SQLite::Statement& statement) {
  Columns columns(statement, "trial");
  TrialRecord trial;
  trial.id = columns.text();
  trial.config = columns.object();
  trial.state = columns.take(enum_from<trial::TrialState>(columns.text(), "state"));
  trial.failure_kind = columns.text();
  trial.failure_message = columns.text();
  trial.notes = columns.take(from_json<std::vector<std::string>>(columns.parsed(), "notes"));
  trial.counts = columns.take(from_json<std::map<std::string, std::int64_t>>(columns.parsed(), "counts"));
  trial.fingerprint = columns.object();
  trial.attempts = columns.integer();
  trial.seconds = columns.real();
  trial.events = columns.take(accounting::events_from_json(columns.parsed(), "events")).events;
  trial.builds = columns.take(from_json<std::vector<trial::Build>>(columns.parsed(), "builds"));
  trial.charged = columns.take(charged_from(columns.parsed(), "charged"));
  trial.begun_after = columns.optional_integer();
  trial.peak_bytes = columns.integer();
  trial.device_peak_bytes = columns.integer();
  trial.begun_key = columns.text();
  if (auto outcome = columns.outcome(); !outcome) return in_context("trial " + trial.id, outcome.error());
  return trial;
}

namespace {

std::optional<accounting::ReportedEpsilon> read_epsilon(Columns& columns) {
  const auto text = columns.optional_text();
  if (!text) return std::nullopt;
  return columns.take(reported_epsilon_from(columns.take(parse_json(*text, "epsilon")), "epsilon"));
}

}  // namespace

Result<StudyRecord> read_study(SQLite::Statement& statement) {
  Columns columns(statement, "study");
  StudyRecord study;
  study.id = columns.text();
  study.spec = columns.text();
  study.panel = columns.text();
  study.row = columns.text();
  study.method = columns.text();
  study.epsilon_target = columns.optional_real();
  study.delta = columns.real();
  study.seed = columns.integer();
  study.state = columns.take(enum_from<StudyState>(columns.text(), "state"));
  study.reported_trial = columns.text();
  study.composition = columns.take(from_json<trial::Composition>(columns.parsed(), "composition"));
  study.label = columns.text();
  study.flags = columns.take(from_json<std::vector<std::string>>(columns.parsed(), "flags"));
  study.footnotes = columns.take(from_json<std::vector<std::string>>(columns.parsed(), "footnotes"));
  study.claimed_epsilon = columns.optional_real();
  study.total = read_epsilon(columns);
  study.training = read_epsilon(columns);
  study.failure_kind = columns.text();
  study.failure_message = columns.text();
  study.seconds = columns.real();
  study.code = columns.text();
  if (auto outcome = columns.outcome(); !outcome) return in_context("study " + study.id, outcome.error());
  return study;
}

std::optional<std::string> epsilon_column(const std::optional<accounting::ReportedEpsilon>& epsilon) {
  if (!epsilon) return std::nullopt;
  return canonical_json(as_json(*epsilon));
}

std::vector<trial::MetricRecord> read_metrics(SQLite::Statement& select) {
  std::vector<trial::MetricRecord> found;
  while (select.executeStep()) {
    Columns columns(select, "metric");
    trial::MetricRecord metric;
    metric.step = columns.integer();
    metric.split = columns.text();
    metric.name = columns.text();
    metric.value = columns.optional_real().value_or(std::numeric_limits<double>::quiet_NaN());
    // An unreadable visibility stays what undeclared means: confidential.
    if (auto visibility = enum_from<trial::Visibility>(columns.text(), "visibility"))
      metric.visibility = *visibility;
    found.push_back(std::move(metric));
  }
  return found;
}

}  // namespace hyfreedp::results
