// The parts of reading a spec; load_spec (plan.h) puts them together. The YAML's shape is in
// experiments/README.md.
#pragma once

#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/runner/spec_entry.h"

namespace hyfreedp::runner {

// What of a panel its rows need to know.
struct PanelFrame {
  std::vector<std::int64_t> seeds;
  json::array epsilons;  // numbers and "inf"
  std::int64_t steps = 0;
};

// A name that becomes part of paths and keys: letters, digits, '-', '_' and '.', not beginning with '.'.
Result<std::string> read_identifier(const Entry& entry);
// One text, or a list of texts.
Result<json::array> read_texts(const std::optional<Entry>& entry);
// Distinct whole numbers, at least one.
Result<std::vector<std::int64_t>> read_seeds(const Entry& entry);
// Distinct positive numbers or inf, at least one; a single number is a list of one.
Result<json::array> read_epsilons(const Entry& entry);

// Rows of a panel: `rows` is the text `default` (all of `shared`), or a list of ids of shared rows, of rows,
// and of maps with `use: ID` that change a shared row. Absent: all shared rows.
Result<json::array> read_rows(const Entry& panel, const std::optional<Entry>& rows,
                              const std::vector<Entry>& shared, const PanelFrame& frame);

// One panel, with what `defaults` says of it.
Result<json::object> read_panel(const Entry& panel, const std::optional<Entry>& defaults,
                                const std::vector<Entry>& shared);

}  // namespace hyfreedp::runner
