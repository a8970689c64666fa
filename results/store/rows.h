// Rows of the database as records.
#pragma once

#include <SQLiteCpp/Statement.h>
#include <optional>
#include <string>
#include <vector>

#include "results/store/store.h"

namespace hyfreedp::results {

// The columns, in the order in which read_trial() and read_study() take them.
inline constexpr const char* kTrialColumns =
    "id, config, state, failure_kind, failure_message, notes, counts, fingerprint, attempts, seconds, "
    "events, builds, charged, begun_after, peak_bytes, device_peak_bytes, begun_key";
inline constexpr const char* kStudyColumns =
    "id, spec, panel, row, method, epsilon_target, delta, seed, state, reported_trial, composition, label, "
    "flags, "
    "footnotes, claimed_epsilon, total, training, failure_kind, failure_message, seconds, "
    "code";

// The statement's present row.
Result<TrialRecord> read_trial(SQLite::Statement& statement);
// Reads a study, but not its trials, which are in another table.
Result<StudyRecord> read_study(SQLite::Statement& statement);
// All rows of step, split, name, value, visibility.
std::vector<trial::MetricRecord> read_metrics(SQLite::Statement& select);
// Writes it as the columns `total` and `training` hold it.
std::optional<std::string> epsilon_column(const std::optional<accounting::ReportedEpsilon>& epsilon);

}  // namespace hyfreedp::results
