// `each`: one row of a spec for every combination of values.
//
//   - {id: adam, method: fixed-rate, group: adam, each: {options.lr: [1e-3, 1e-2],
//     train.optimizer.beta1: [0.8, 0.9]}}
//
// gives four rows, adam-lr-1e-3-beta1-0.8 and so on, where the last key changes fastest; their
// titles end with the values. A key is the path of a setting of a row. Rows of one `group`
// (default: the row's id) belong together in figures and statistics.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/runner/spec/spec_entry.h"

namespace hyfreedp::runner {

struct ExpandedRow {
  Layers layers;
  std::string id_suffix;     // "-lr-1e-3"; empty where the row has no `each`
  std::string title_suffix;  // " (lr 1e-3)"
};

// One for a row without `each`. At most 10,000. None where `each` is wrong.
std::vector<ExpandedRow> expand_each(const Layers& row, Problems& problems);

}  // namespace hyfreedp::runner
