// The kinds of figure that a spec's `figures` may list: names, help and options, without LibTorch and without gnuplot.
//
// A figure of a spec, resolved (spec["figures"], a list):
//   {"kind", "name", "title"?, "rows"?: [ids or groups], "panels"?: [ids], "epsilons"?: [numbers, "inf"],
//    "options": {those that are not the default}}
// A list that is left out means all. The name is that of its files and of no other figure of the spec.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/base/options.h"

namespace hyfreedp::results {

struct FigureKind {
  std::string name;
  std::string title;  // as a person reads it
  std::string help;   // what it draws
  bool all_runs =
      false;  // reads every run of a row, not only the reported one: not of rows of private selection
  std::vector<OptionSpec> options;
};

const std::vector<FigureKind>& figure_kinds();
// An unknown name lists the valid ones and the nearest match.
Result<const FigureKind*> find_figure_kind(const std::string& name);

// One figure that a spec asks for.
struct FigureRequest {
  std::string kind;
  std::string name;
  std::string title;                            // empty: the kind's own
  std::vector<std::string> rows;                // ids of rows or groups; empty: all
  std::vector<std::string> panels;              // empty: all
  std::vector<std::optional<double>> epsilons;  // absent: non-private; empty: all
  json::object options;                         // every default filled in

  bool wants_row(const std::string& id, const std::string& group) const;
  bool wants_panel(const std::string& id) const;
  bool wants_epsilon(const std::optional<double>& epsilon) const;
};

// Of spec["figures"]; none: a spec that says nothing, which has the usual figures (plots/figures.h).
std::optional<std::vector<FigureRequest>> figure_requests(const json::object& resolved_spec);

}  // namespace hyfreedp::results
