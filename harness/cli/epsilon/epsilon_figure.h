// Epsilon as a figure: one box for each quantity that can be varied (steps, noise, ...), with
// epsilon over it.
//
// Each box shows PLD (upper bound, with a band down to its lower bound) and RDP; private selection,
// which PLD does not price, shows RDP alone. Points whose epsilon is infinite or beyond what the
// accountants price are left out.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/accounting/accountant.h"
#include "plots/figure.h"

namespace hyfreedp::cli {

// A highlighted point, such as the requested one.
struct MarkedPoint {
  double x = 0;
  double epsilon = 0;
  std::string title;   // in the legend; equal titles have one entry
  bool claim = false;  // hollow: what is claimed, not what is spent
};

struct EpsilonBox {
  std::string title;    // what is held fixed
  std::string x_label;  // with its unit
  std::vector<double> xs;
  std::function<accounting::Events(double x)> events_at;
  bool logarithmic_epsilon = false;
  std::vector<MarkedPoint> marks = {};
};

struct EpsilonFigure {
  std::string title;  // what holds in every box
  double delta = 0;
  std::vector<double> orders = {};  // of RDP; empty: default_orders()
  bool gdp = false;                 // GDP beside them
  std::optional<double> target = {};
  std::vector<EpsilonBox> boxes;
};

Result<plots::Figure> epsilon_figure(const EpsilonFigure& request);

// The figure as PATH (.svg, .png or .pdf).
Result<void> draw_epsilon(const EpsilonFigure& request, const std::string& path);

}  // namespace hyfreedp::cli
