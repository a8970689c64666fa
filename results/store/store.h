// The database out/hyfreedp.sqlite: every trial with its executed events and metrics, and every
// study with its cost.
//
// Invariants
//   - There is one writer (the coordinator) and any number of readers. SQLite's write-ahead log and
//     foreign keys are on, and every change is a transaction. The last writer puts the log away, so
//     that a finished file can be read where nobody can write beside it.
//   - States are enums with legal transitions; a finished trial or concluded study is immutable.
//   - A database of a newer schema is refused; an older one is migrated step by step: the file
//     where it is opened for writing, a copy in memory where it is only read.
//   - Every metric has a visibility. Readers get confidential values only if they ask for them.
//   - Times, seconds, peaks of memory and the table of what runs took of the machine are all that
//     may differ between two runs of a seeded spec.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/accounting/accountant.h"
#include "harness/trial/build.h"
#include "harness/trial/composition.h"
#include "harness/trial/run_records.h"

namespace hyfreedp::results {

inline constexpr int kSchemaVersion = 10;

struct SpecRecord {
  std::string name;  // "quick"
  std::string hash;  // of `resolved`
  // Panels, rows, titles, footnotes: all that tables and plots need to know of the spec.
  json::object resolved;
  std::string text;     // the YAML as read
  std::string version;  // of the program, with the commit where known
};

struct TrialRecord {
  std::string id;
  json::object config;
  trial::TrialState state = trial::TrialState::running;
  std::string failure_kind;
  std::string failure_message;
  std::vector<std::string> notes;
  std::map<std::string, std::int64_t> counts;
  json::object fingerprint;          // of the last start
  std::vector<trial::Build> builds;  // all that worked on it, oldest first; none: not recorded
  std::int64_t attempts = 1;
  double seconds = 0;
  // The largest memory that it took, in bytes; 0: not recorded, or no GPU.
  std::int64_t peak_bytes = 0;
  std::int64_t device_peak_bytes = 0;
  std::vector<accounting::Event> events;  // executed, charged
  // The same by attempt, so that what the journal says later can be compared; empty: not recorded.
  std::vector<trial::ChargedAttempt> charged;
  // Set while a worker has the trial: the number of start lines in its journal before. It stays if
  // the end of the run was not recorded.
  std::optional<std::int64_t> begun_after;
  // The nonce of its key file then; empty where there was none.
  std::string begun_key = {};
};

// A run's use of its machine at a moment of one of its executions. An execution is the time in
// which a worker process has the run: from its start to its end, to a stop, or to the worker's
// death.
struct SystemSample {
  std::int64_t execution = 0;  // 0: the first; put_system() counts them
  double seconds = 0;          // since the execution began
  // Processor time over time, since the sample before; 1: one core.
  double cpu_share = 0;
  std::int64_t resident_bytes = 0;  // memory of the worker's process, mapped files included
  std::int64_t device_bytes = 0;    // of tensors on the GPU; 0: none
};

// The builds that worked on a trial. For a trial of a version that did not record builds, the one
// that its fingerprint describes, if it has one.
std::vector<trial::Build> builds_of(const TrialRecord& trial);

enum class StudyState { open, concluded, failed };

// One study: (spec, panel, row, epsilon, seed).
struct StudyRecord {
  std::string id;  // hash of the cell
  std::string spec;
  std::string panel;
  std::string row;
  std::string method;
  std::optional<double> epsilon_target;
  double delta = 0;
  std::int64_t seed = 0;
  StudyState state = StudyState::open;
  std::string reported_trial;
  trial::Composition composition;
  std::string label;
  std::vector<std::string> flags;
  std::vector<std::string> footnotes;
  std::optional<double> claimed_epsilon;
  std::optional<accounting::ReportedEpsilon> total;     // tuning included; absent: non-private
  std::optional<accounting::ReportedEpsilon> training;  // of the reported run alone
  std::string failure_kind;
  std::string failure_message;
  std::vector<std::string> trials;  // all it asked for, in order
  double seconds = 0;               // of all its trials
  std::string code;                 // of its method (trial/code_marks.h); empty: not known

  static constexpr std::array kLeftOut = {"code"};
};

// The part that is kept of a study whose spec was replaced or released again: its trials, and how
// their epsilon is composed.
struct RetiredStudy {
  std::string id;
  std::string spec;
  std::string method;
  trial::Composition composition;
  std::vector<std::string> trials;
};

// The code that some of a row's results are of; there is one for each combination.
struct RowCode {
  std::string panel, row, method;
  std::string method_code;            // StudyRecord::code
  std::optional<json::object> code;   // of a run (trial/code_marks.h); none: not recorded
  std::string worker;                 // Build::worker of that run
  std::string optimizer, controller;  // of that run
};

// A note and tags that the user wrote about a study.
struct StudyNote {
  std::string study;  // id
  std::string note;
  std::vector<std::string> tags;  // sorted, each once

  bool operator==(const StudyNote&) const = default;
};

class Store {
 public:
  // scratch: a copy in memory that can be written, of which nothing is kept.
  enum class Mode { read_only, read_write, scratch };
  static Result<std::unique_ptr<Store>> open(const std::string& path, Mode mode);
  static Result<std::unique_ptr<Store>> in_memory(Mode mode = Mode::read_write);
  ~Store();

  // True if nothing of it is kept, so that nothing else may follow from what is written into it.
  bool is_scratch() const { return mode_ == Mode::scratch; }

  // Writing. A spec with an existing name and another hash is an error unless `replace`, which
  // retires the earlier studies.
  Result<void> put_spec(const SpecRecord& spec, bool replace = false);
  // Another version of a spec that is there: its studies stay as they are, but for `leaving` (ids),
  // which are retired.
  Result<void> amend_spec(const SpecRecord& spec, const std::vector<std::string>& leaving);
  // Inserts or updates a trial that is not final, with its step scalars and metrics, which replace
  // earlier ones.
  Result<void> put_trial(const TrialRecord& trial, const std::vector<trial::StepRecord>& steps,
                         const std::vector<trial::MetricRecord>& metrics);
  // Adds the samples of one more execution of a trial that was put, in the order of time. They are
  // kept, whatever becomes of the trial.
  Result<void> put_system(const std::string& trial, const std::vector<SystemSample>& samples);
  Result<void> put_study(const StudyRecord& study);
  // Adds a retired study. One that is there already, equal in all, is not added again.
  Result<void> put_retired(const RetiredStudy& study);
  // Makes one transaction of what `body` writes, with one sync of the disk for all of it. Each of
  // its writes still happens as a whole or not at all, and those before an error are kept. Nothing
  // of it is durable, and no other process sees it, before this returns. An error is the body's, or
  // why it could not be written.
  Result<void> write_together(const std::function<Result<void>()>& body);
  // Adds an identity of a dataset, by its text, when a spec that names it is run
  // (datasets/same_data.h). Earlier ones stay: files, links and secrets may be gone later.
  Result<void> put_data(const std::string& dataset, const json::object& identity);
  // Replaces what was noted about the study. It stays with the study's id, so that a study that
  // --replace leaves as it was keeps it, and one of a new release (--fresh) has none.
  Result<void> put_note(const StudyNote& note);

  // Reading.
  Result<std::vector<SpecRecord>> specs() const;
  Result<std::optional<SpecRecord>> spec(const std::string& name) const;
  Result<std::optional<TrialRecord>> trial(const std::string& id) const;
  Result<std::vector<std::string>> trial_ids(const std::string& spec) const;
  // The ids of those that are finished.
  Result<std::set<std::string>> finished_trials() const;
  // Every trial of the database in the order of first writing, also those that no study lists.
  Result<std::vector<TrialRecord>> trials() const;
  Result<std::vector<RetiredStudy>> retired_studies() const;
  Result<std::vector<StudyRecord>> studies(const std::string& spec) const;
  // The studies of all specs, by the specs' names.
  Result<std::vector<StudyRecord>> all_studies() const;
  Result<std::optional<StudyRecord>> study(const std::string& id) const;
  // The code of the answers that the spec's studies have, without those that were cancelled, lost
  // or not needed.
  Result<std::vector<RowCode>> row_codes(const std::string& spec) const;
  // All identities that were put, by the dataset's text.
  Result<std::map<std::string, std::vector<json::object>>> data() const;
  // The notes and tags by study, of those that have any.
  Result<std::map<std::string, StudyNote>> notes() const;
  // Released and test metrics; confidential ones only if `confidential`.
  Result<std::vector<trial::MetricRecord>> metrics(const std::string& trial, bool confidential = false) const;
  // The last `count` values of one metric, oldest first. Reads a run's end, not all that it holds.
  Result<std::vector<trial::MetricRecord>> last_metrics(const std::string& trial, const std::string& split,
                                                        const std::string& name, std::int64_t count,
                                                        bool confidential = false) const;
  Result<std::vector<trial::StepRecord>> steps(const std::string& trial) const;
  Result<std::vector<SystemSample>> system(const std::string& trial) const;

 private:
  struct State;
  Store(std::unique_ptr<State> state, Mode mode, bool in_file);
  std::unique_ptr<State> state_;
  Mode mode_;
  bool in_file_;
};

}  // namespace hyfreedp::results
