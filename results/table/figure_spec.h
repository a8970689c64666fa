// The kinds of figure that a spec's `figures` may list: names, help and options, without LibTorch
// and without gnuplot.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/base/options.h"
#include "harness/spec/spec.h"

namespace hyfreedp::results {

struct FigureKind {
  std::string name;
  std::string title;  // as a person reads it
  std::string help;   // what it draws
  // Reads every run of a row and not only the reported one; rows of private selection are left out.
  bool all_runs = false;
  std::vector<OptionSpec> options;
  std::string ranges = "xy";  // axes whose range a spec may give; the others have names or a grid
  bool has_colours = true;    // of rows or groups
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
  spec::FigureLook look = {};
  // The size of each box, in pixels before the font's scale; absent: the kind's own.
  std::optional<double> box_width = {}, box_height = {};

  bool wants_row(const std::string& id, const std::string& group) const;
  bool wants_panel(const std::string& id) const;
  bool wants_epsilon(const std::optional<double>& epsilon) const;
};

// Returns the requests of the figures that a spec lists. A spec that lists none has the usual ones
// (plots/figures.h).
std::vector<FigureRequest> figure_requests(const std::vector<spec::Figure>& figures);

}  // namespace hyfreedp::results
