// From the store to one model that every writer, plot and report reads, so that they cannot disagree.
//
// For each panel a table: one row a spec row, one column an epsilon (the last: non-private). A cell is, over
// seeds,
//   mean       of the metric (table_options.h): test accuracy of the reported run at its last step, in percent, where nothing else
//              is asked for; sample standard deviation (none at n = 1), n. Test data is public here: its evaluation is outside
//              the mechanism and steers nothing.
//   epsilon    what was spent, tuning included: the largest over the seeds, never below the truth of any of them
//   failure    a typed reason where no seed succeeded; a footnote where some did not. Never a blank.
//   best       only among end-to-end rows that kept to the target epsilon, have a value of every planned seed (a row whose bad seeds
//              fell out would win by those that are left) and are no candidates of a group (picking the best of them by its test
//              result is an oracle's choice), and only where a 95 % t-interval (Bonferroni over the competitors, paired by seed)
//              puts the row above each of them; never of times
//   seconds    mean over seeds of all runs that the cell asked for; of the reported run alone where the number of runs is itself
//              confidential (private selection)
// Confidential values (un-noised validation accuracy, number of runs under private selection) are in the
// model only when asked for, and then `confidential` is set, for which every writer prints kWatermark.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/statistics.h"
#include "results/store.h"
#include "results/table_options.h"

namespace hyfreedp::results {

inline constexpr const char* kWatermark =
    "CONFIDENTIAL: this output shows values that were not released under differential privacy";

struct SeedResult {
  std::int64_t seed = 0;
  std::string study;
  std::string trial;  // reported
  StudyState state = StudyState::open;
  std::optional<double> accuracy;  // percent, at the last step
  std::optional<double> value;     // of the table's metric: what the cell's mean is over
  std::optional<double> epsilon;
  std::string failure_kind;
  std::string failure_message;
  // Of a folded row (groups.h): some of its candidates have no value at this seed, so the value is over those that are left.
  bool lacks_candidates = false;
  // Of a reported run that finished but whose method did not work: "stuck at d0". Functions of what was released.
  std::vector<std::string> outcomes = {};
};

// A paper's own value of a cell.
struct PaperValue {
  double value = 0;
  std::optional<double> sd;
  std::string unit;
  std::optional<double> difference;  // ours less the paper's, where both are of one kind
  std::optional<bool> in_band;       // where a tolerance is given
};

struct CellModel {
  enum class Kind { not_planned, open, failed, value };

  std::optional<double> epsilon_target;  // absent: non-private
  Kind kind = Kind::not_planned;
  std::vector<SeedResult> seeds;  // planned, in the spec's order
  int n = 0;                      // seeds with a value
  double mean = 0;
  std::optional<double> sd;
  std::optional<double> epsilon;        // largest over seeds
  std::optional<double> epsilon_least;  // smallest over seeds
  std::optional<double> claimed_epsilon;
  std::string accountant;
  std::string label;
  std::vector<std::string> flags;
  std::string failure;  // kinds, where kind == failed
  std::optional<double> seconds;
  bool best = false;
  int decimals = 1;        // of the mean
  std::vector<int> notes;  // numbers into TableModel::footnotes, from 1
  bool is_private_selection = false;

  // Where the settings ask for it (table_extras.h).
  std::optional<Interval> interval;  // of the mean
  std::optional<double> relation;    // to the row of relative_to: difference, or ratio of times
  std::optional<Interval> relation_range;
  bool is_ratio = false;
  std::optional<double> detectable;
  std::optional<double> rerr;
  bool beats_oracle = false;
  std::optional<double> rank;
  std::optional<PaperValue> paper;

  // Only when confidential values were asked for.
  std::optional<double> validation;  // mean un-noised validation accuracy of the reported runs, percent
  std::optional<double> runs;        // mean number of runs a seed
};

struct RowModel {
  std::string id;
  std::string method;
  std::string title;
  std::string group = {};          // as the spec says; empty: none
  std::string label;               // of its private cells
  std::vector<std::string> flags;  // of any of its cells
  std::vector<CellModel> cells;    // one a column
  std::optional<double> seconds;   // mean over cells
  std::optional<double> mean_rank = {};
  std::vector<int> notes;
};

struct PanelModel {
  std::string id;
  std::string title;
  std::string settings;  // "N = 50000, T = 250, q = 0.02, ..."
  double delta = 0;
  std::vector<std::optional<double>> columns;
  std::vector<RowModel> rows;
  std::vector<int> notes;
  TableSettings table = {};
};

struct TableModel {
  std::string spec;
  std::string title;
  std::string description;
  std::string hash;
  std::string version;
  std::string preset;  // of the spec; may be empty
  bool confidential = false;
  std::vector<std::string> banners;  // what holds for every private row, e.g. reproducible noise
  std::vector<PanelModel> panels;
  std::vector<std::string> footnotes;  // numbered from 1
  std::vector<std::string> notes;      // how to read the table
};

struct TableOptions {
  bool confidential = false;
  // Members of a spec's `table` (table_options.h), over the spec's own.
  json::object overrides = {};
  // Without what the spec says of its table: plain accuracies, as plots read them.
  bool plain = false;
};

Result<TableModel> build_table(const Store& store, const std::string& spec, const TableOptions& options = {});

// The number of runs, and everything that gives it away (time of all runs, losing runs), is public.
bool run_count_is_public(const StudyRecord& study);

}  // namespace hyfreedp::results
