// The options of a spec's `table` (harness/spec/table.h), which says how its tables are made; a
// panel's `table` overrides the spec's. Only options that are given are stored. Their meaning is in
// the help texts, which `hyfreedp table` and experiments/README.md repeat.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/base/options.h"
#include "harness/spec/table.h"

namespace hyfreedp::results {

// A table's `table` (harness/spec/table.h) with every default filled in.
struct TableSettings {
  using IntervalKind = spec::IntervalKind;
  using Groups = spec::FoldedGroups;

  spec::Metric metric = spec::Metric::accuracy;
  std::vector<spec::Metric> also = {};  // other metrics in columns beside it
  std::string relative_to;              // row id; empty: none
  Groups groups = Groups::all;
  std::int64_t last_checkpoints = 1;
  IntervalKind interval = IntervalKind::none;
  bool ranks = false;
  bool mdd = false;
  bool oracle_beaten = false;
  std::string rerr_random, rerr_oracle;  // row ids; both or neither
  bool paper = false;
  std::optional<double> paper_tolerance;

  bool operator==(const TableSettings&) const = default;
};
BOOST_DESCRIBE_STRUCT(TableSettings, (),
                      (metric, relative_to, groups, last_checkpoints, interval, ranks, mdd, oracle_beaten,
                       paper, paper_tolerance))

// The look of a table (harness/spec/table.h): nothing that changes a value.
struct TableLook {
  std::vector<spec::TableColumn> columns = {spec::TableColumn::label, spec::TableColumn::time,
                                            spec::TableColumn::memory};
  bool is_median = false;  // of the seeds, in place of the mean
  bool sd = true;
  bool range = false;  // smallest to largest
  bool epsilon = true;
  bool n = true;
  spec::TableNotes notes = spec::TableNotes::all;
};
// An error, which begins with `where`, where the parts of a cell do not go together.
Result<TableLook> table_look(const spec::Table& given, const std::string& where);

// The metric that a cell shows.
struct MetricFacts {
  std::string title;      // in a column's header and in sentences
  std::string unit = "";  // empty: none
  int decimals = 1;
  bool larger_is_better = true;
  // The metric's own name among a run's metrics; empty: the run's time.
  std::string recorded = "";
  std::string column = "";  // after a column's title; empty: nothing, of the usual metric
};
const MetricFacts& metric_facts(spec::Metric metric);
// Returns what `evaluate` must say for it, "by_class: true" or "written: {}"; empty: nothing.
std::string asked_of_evaluate(spec::Metric metric);
// A recorded value as the table shows it: fractions in percent.
double shown_value(const MetricFacts& facts, double recorded);

// The options of `table`; its member `rerr` is a map with the options rerr_options, `also`,
// `columns` and `cells` are lists of words, and `labels` is a map of texts.
const std::vector<OptionSpec>& table_options();
const std::vector<OptionSpec>& rerr_options();

// Checks what is given, and fills in the defaults. Errors begin with `where`.
Result<TableSettings> table_settings(const spec::Table& given, const std::string& where);

}  // namespace hyfreedp::results
