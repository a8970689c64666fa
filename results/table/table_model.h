// One model of a table, made from the store; every writer, plot and report reads it, so that they
// cannot disagree.
//
// Each panel has a table with one line for each row of the spec and one column for each epsilon
// (the last: non-private). Where the spec fixes noise multipliers, these are the epsilons that they
// cost: rows that spend more at the same noise have columns of their own. A cell has, over seeds,
//   mean       of the metric (table_options.h), by default the test accuracy of the reported run at
//              its last step in percent; with the sample standard deviation (none at n = 1) and n.
//              Test data are public here: their evaluation is outside the mechanism and steers
//              nothing
//   epsilon    what was spent, tuning included: the largest over the seeds, so it is never too
//              small for any of them
//   failure    a typed reason if no seed succeeded, and a footnote if some did not; a cell is never
//              blank
//   best       a mark that only end-to-end rows can have, if they kept to the target epsilon, have
//              a value for every planned seed (a row without its bad seeds would win unfairly) and
//              are not candidates of a group (choosing among these by test results is an oracle's
//              choice), and if a 95 % t-interval (Bonferroni over the competitors, paired by seed)
//              puts the row above each of them; times are never marked
//   seconds    mean over seeds of the time of all runs that the cell asked for; of the reported run
//              alone if the number of runs is confidential (private selection)
//   memory     the largest that one of these runs took, over seeds
// Confidential values (un-noised validation accuracy, the number of runs under private selection)
// are in the model only if they were asked for; then `confidential` is set, and every writer prints
// kWatermark.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "results/store/store.h"
#include "results/table/memory.h"
#include "results/table/statistics.h"
#include "results/table/table_options.h"

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
  // True for a folded row (groups.h) some of whose candidates have no value at this seed, so that
  // the value is over the others.
  bool lacks_candidates = false;
  // Outcomes that a finished run reports whose method did not work, such as "stuck at d0"; a
  // function of releases.
  std::vector<std::string> outcomes = {};
  // Accuracy in percent at the last step, by the set's id.
  std::map<std::string, double> ood_test = {};
};

// A paper's own value for a cell.
struct PaperValue {
  double value = 0;
  std::optional<double> sd;
  std::string unit;
  // Ours less the paper's. Absent unless both are of one kind and the task is the paper's
  // (PanelModel::is_the_papers_task), or a tolerance says that they may be subtracted.
  std::optional<double> difference;
  std::optional<bool> in_band;  // where a tolerance is given
  // The row's rank in its column by our values and by the paper's, among the `ranked` rows that
  // have both; 1 is the best, equal values share a rank. Set for another task, of which the order
  // alone can be compared.
  std::optional<double> our_rank;
  std::optional<double> rank;
  int ranked = 0;
};

// The accuracy in percent on one set of ood_test, over the seeds with a value.
struct OodValue {
  std::string id;
  int n = 0;
  double mean = 0;
  std::optional<double> sd;
  std::optional<PaperValue> paper;  // its difference alone, under the conditions of the cell's own
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
  std::string noise_accountant;  // accounting::ReportedEpsilon
  std::string label;
  std::vector<std::string> flags;
  std::string failure;  // kinds, where kind == failed
  std::optional<double> seconds;
  Memory memory;
  bool best = false;
  int decimals = 1;        // of the mean
  std::vector<int> notes;  // numbers into TableModel::footnotes, from 1
  bool is_private_selection = false;

  // Set if the settings ask for it (table_extras.h).
  std::optional<Interval> interval;  // of the mean
  std::optional<double> relation;    // to the row of relative_to: difference, or ratio of times
  std::optional<Interval> relation_range;
  bool is_ratio = false;
  std::optional<double> detectable;
  std::optional<double> rerr;
  bool beats_oracle = false;
  std::optional<double> rank;
  std::optional<PaperValue> paper;
  // The sets in the panel's order; a folded row (groups.h) has none.
  std::vector<OodValue> ood_test;

  // Set only if confidential values were asked for.
  // mean un-noised validation accuracy of the reported runs, percent
  std::optional<double> validation;
  std::optional<double> runs;  // mean number of runs a seed
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
  Memory memory;
  std::optional<double> mean_rank = {};
  std::vector<int> notes;
};

struct PanelModel {
  std::string id;
  std::string title;
  std::string settings;  // "N = 50000, T = 250, q = 0.02, ..."
  double delta = 0;
  std::vector<std::string> ood_test = {};  // ids
  std::vector<std::optional<double>> columns;
  // The noise multipliers, if the spec fixes them, by the epsilon that they cost in some row:
  // ascending.
  std::map<double, std::set<double>> noise_multipliers = {};
  std::vector<RowModel> rows;
  // The same rows and columns by each of `table.also`, in that order.
  std::vector<PanelModel> also = {};
  std::vector<int> notes;
  TableSettings table = {};
  TableLook look = {};
  // True if a comparison of values decides how many seeds there are (sequential_seeds.h).
  bool has_sequential_seeds = false;
  // false: the spec's preset stands for another (`small`, `smoke`, ...)
  bool is_the_papers_task = true;

  // True if the memory of some run is recorded.
  bool shows_memory() const;
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
  spec::TableNotes shown_notes = spec::TableNotes::all;
  // The spec's own colours of a figure, by rows and groups.
  std::map<std::string, std::string> colours = {};
};

struct TableOptions {
  bool confidential = false;
  spec::Table overrides = {};  // of what the spec says of its table

  // Ignores what the spec says of its table: plain accuracies, as plots read them.
  bool plain = false;
};

Result<TableModel> build_table(const Store& store, const std::string& spec, const TableOptions& options = {});

}  // namespace hyfreedp::results
