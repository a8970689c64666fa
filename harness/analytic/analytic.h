// Tables and figures of the papers that are pure accounting or formulas: computed here, never
// copied, without training.
//
// An item is a pure function from options and the paper's values to a table and curves. The paper's
// values are its values.json (experiments/papers/PAPER), read by the caller: no printed number
// stands in code. Each of our values is compared with the paper's within half a unit of the last
// printed digit, or as the item says; what does not reproduce keeps our value and a footnote with
// the reason.
#pragma once

#include <string>
#include <vector>

#include "harness/analytic/paper_values.h"
#include "harness/base/options.h"
#include "results/table/curves.h"
#include "results/table/value_table.h"

namespace hyfreedp::analytic {

struct Analytic {
  results::ValueTable table;
  std::vector<results::CurveFigure> figures;  // may be empty
};

struct Item {
  std::string name;    // as a spec's `analytic: {name: ...}` says it
  std::string title;   // one line
  std::string source;  // paper, table or figure, equation
  // Folder in experiments/papers whose values.json this item is compared with; empty: none.
  std::string paper;
  std::vector<OptionSpec> options;
  Result<Analytic> (*compute)(const json::object& options, const PaperValues& paper);
};

// All items, in the order in which they are listed.
const std::vector<Item>& registry();
const Item* find(const std::string& name);

// `given`: options as a spec wrote them, checked against the item's table (resolve_options).
// `values`: the whole document of the paper's values.json; null where there is none, then every
// cell has our value alone (an item that computes from printed numbers says that it needs them).
// `where` is what an error names.
Result<Analytic> compute(const std::string& name, const json::object& given, const json::value& values,
                         const std::string& where);

}  // namespace hyfreedp::analytic
