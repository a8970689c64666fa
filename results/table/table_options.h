// The options of a spec's `table`, which says how its tables are made; a panel's `table` overrides
// the spec's. Only options that are given are stored. Their meaning is in the help texts, which
// `hyfreedp table` and experiments/README.md repeat.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/base/options.h"

namespace hyfreedp::results {

struct TableSettings {
  enum class IntervalKind { none, t, bootstrap };
  enum class Groups { all, median, max };

  std::string metric = "accuracy";
  std::string relative_to;  // row id; empty: none
  Groups groups = Groups::all;
  int last_checkpoints = 1;
  IntervalKind interval = IntervalKind::none;
  bool ranks = false;
  bool mdd = false;
  bool oracle_beaten = false;
  std::string rerr_random, rerr_oracle;  // row ids; both or neither
  bool paper = false;
  std::optional<double> paper_tolerance;

  bool operator==(const TableSettings&) const = default;
};

// The metric that a cell shows.
struct MetricFacts {
  std::string name;
  std::string title;  // in a column's header and in sentences
  std::string unit;   // empty: none
  int decimals = 1;
  bool larger_is_better = true;
};
const MetricFacts& metric_facts(const std::string& name);

// The options of `table`; its member `rerr` is a map with the options rerr_options.
const std::vector<OptionSpec>& table_options();
const std::vector<OptionSpec>& rerr_options();

// Reads stored options. Errors begin with `where`.
Result<TableSettings> table_settings(const json::object& given, const std::string& where);

// The members of both; those of `above` override those of `below`.
json::object laid_over(const json::object& above, json::object below);

}  // namespace hyfreedp::results
