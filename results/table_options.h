// What a spec's `table` (of the whole spec or of a panel, the panel's over the spec's) may say of how its table is made. Only what is
// given is stored; what each means is in the options' help texts, which `hyfreedp table` and experiments/README.md repeat.
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

// Of what a cell shows.
struct MetricFacts {
  std::string name;
  std::string title;  // in a column's header and in sentences
  std::string unit;   // empty: none
  int decimals = 1;
  bool larger_is_better = true;
};
const MetricFacts& metric_facts(const std::string& name);

// Options of `table`; `rerr` is a map of its own with rerr_options.
const std::vector<OptionSpec>& table_options();
const std::vector<OptionSpec>& rerr_options();

// `given`: what table_options allow, as stored. `where` is what an error names.
Result<TableSettings> table_settings(const json::object& given, const std::string& where);

// Members of `above` over those of `below`.
json::object laid_over(const json::object& above, json::object below);

}  // namespace hyfreedp::results
