// Everything that is behind one cell of a table: `hyfreedp trace`.
//
// For each seed the study, the run that it reports, all runs that it asked for, what was executed and what that cost. Of a
// private selection only the reported run is there unless confidential values are asked for: its epsilon holds only as long
// as the number of runs and the losing ones stay secret.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/cell_place.h"
#include "results/store.h"
#include "results/table_model.h"

namespace hyfreedp::results {

struct TracedRun {
  std::string id;
  bool reported = false;
  std::string state;                     // "finished", "failed (diverged: ...)"
  std::vector<std::string> differences;  // from the reported one: "controller.options.lr 0.1", the build
  std::optional<double> accuracy;        // on test data at its last step, percent
  std::optional<double> validation;      // un-noised, percent; confidential
  std::int64_t attempts = 1;
  double seconds = 0;
  std::string events;  // executed, in words, equal ones folded
};

struct TracedSeed {
  std::int64_t seed = 0;
  std::string study;
  std::string state;
  std::string failure;                                    // "diverged: ..."
  std::optional<double> value;                            // what enters the mean, in the metric's unit
  std::vector<std::pair<std::int64_t, double>> measured;  // the metric on test data by step, in its unit
  json::object config;                                    // of the reported run
  json::object fingerprint;
  std::vector<trial::Build> builds;  // that worked on the reported run, oldest first
  std::string composition;           // in words
  double delta = 0;
  std::optional<accounting::ReportedEpsilon> total;
  std::optional<accounting::ReportedEpsilon> training;
  std::optional<double> tuning;  // total - training, at least 0; absent where it is not charged
  std::optional<double> claimed_epsilon;
  std::string label;
  std::vector<std::string> flags;
  std::vector<std::string> footnotes;
  std::vector<std::string> notes;  // what the reported run says of itself
  std::vector<TracedRun> runs;     // the reported one first, then in the order asked for
  bool runs_are_hidden = false;    // the others are confidential
  std::optional<double> seconds;   // of all its runs; absent where that is confidential
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

// Of the first seed the whole config, of the others what differs from it.
std::string trace_text(const CellTrace& trace);
json::object trace_json(const CellTrace& trace);

// Members of nested objects as "a.b" -> text, sorted; lists as they are.
std::vector<std::pair<std::string, std::string>> flattened(const json::object& object);
// What `other` has instead of `base`: "a.b 3" or "no a.b".
std::vector<std::string> differences(const json::object& base, const json::object& other);

}  // namespace hyfreedp::results
