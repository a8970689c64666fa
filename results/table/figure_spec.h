// The kinds of figure that a spec's `figures` may list: names, help and options, without LibTorch
// and without gnuplot.
//
// A resolved figure of a spec (an element of spec["figures"]):
//   {"kind", "name", "title"?, "rows"?: [ids or groups], "panels"?: [ids], "epsilons"?:
//   [numbers, "inf"],
//    "options": {those that are not the default}}
// A list that is absent means all. `name` is unique in the spec and names the figure's files.
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
  // Reads every run of a row and not only the reported one; rows of private selection are left out.
  bool all_runs = false;
  std::vector<OptionSpec> options;
};

const std::vector<FigureKind>& figure_kinds();
// Looks a kind up by name. The error for an unknown name lists the valid names and the nearest one.
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

// The figures in spec["figures"]; nothing if the spec does not list any, in which case it has the
// default figures (plots/figures.h).
std::optional<std::vector<FigureRequest>> figure_requests(const json::object& resolved_spec);

}  // namespace hyfreedp::results
