// `hyfreedp trace`: everything behind one cell of a table.
//
// For each seed it has the study, the reported run, all runs that it asked for, what was executed
// and what that cost. For a private selection it has the reported run alone unless confidential
// values are asked for, because its epsilon holds only while the number of runs and the losing runs
// stay secret.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/store/store.h"
#include "results/table/cell_place.h"
#include "results/table/table_model.h"

namespace hyfreedp::results {

struct TracedRun {
  std::string id;
  bool reported = false;
  std::string state;  // "finished", "failed (diverged: ...)"
  // Differences from the reported run: "controller.options.lr 0.1", the build.
  std::vector<std::string> differences;
  std::optional<double> accuracy;    // on test data at its last step, percent
  std::optional<double> validation;  // un-noised, percent; confidential
  std::int64_t attempts = 1;
  double seconds = 0;
  Memory memory;
  std::string events;  // executed, in words, equal ones folded
};

struct TracedSeed {
  std::int64_t seed = 0;
  std::string study;
  std::string state;
  std::string failure;  // "diverged: ..."
  // The value that enters the mean, in the metric's unit.
  std::optional<double> value;
  // The metric on test data by step, in its unit.
  std::vector<std::pair<std::int64_t, double>> measured;
  json::object config;  // of the reported run
  json::object fingerprint;
  std::vector<trial::Build> builds;  // that worked on the reported run, oldest first
  std::string composition;           // in words
  double delta = 0;
  std::optional<accounting::ReportedEpsilon> total;
  bool is_unpriced = false;  // its runs may have released what `total` does not have (ledger.h)
  std::optional<accounting::ReportedEpsilon> training;
  std::optional<double> tuning;  // total - training, at least 0; absent where it is not charged
  std::optional<double> claimed_epsilon;
  std::string label;
  std::vector<std::string> flags;
  std::vector<std::string> footnotes;
  std::vector<std::string> notes;  // what the reported run says of itself
  std::string user_note;           // what its user wrote about the study
  std::vector<std::string> tags;
  std::vector<TracedRun> runs;    // the reported one first, then in the order asked for
  bool runs_are_hidden = false;   // the others are confidential
  std::optional<double> seconds;  // of all its runs; absent where that is confidential
};

struct CellTrace {
  std::string spec, title, hash, version;
  std::string panel, panel_title, settings;
  std::string row, row_title, method;
  std::string column;
  std::string metric, unit;  // of the values: "accuracy" and "%", "loss" and ""
  bool confidential = false;
  std::vector<std::string> other_panels;
  CellModel cell;                      // mean, n, epsilon as the table has them
  std::vector<std::string> footnotes;  // of the cell and its row, with their numbers in the table
  std::vector<TracedSeed> seeds;
};

Result<CellTrace> trace_cell(const Store& store, const std::string& spec, const CellRequest& request,
                             bool confidential = false);

// Writes text: the whole config of the first seed, and what differs from it for the others.
std::string trace_text(const CellTrace& trace);
json::object trace_json(const CellTrace& trace);

// Members of nested objects as pairs ("a.b", text), sorted; lists are kept whole.
std::vector<std::pair<std::string, std::string>> flattened(const json::object& object);
// The members of `other` that differ from `base`: "a.b 3" or "no a.b".
std::vector<std::string> differences(const json::object& base, const json::object& other);

}  // namespace hyfreedp::results
