// Curves that are drawn without a store: what an accountant computes over a range. plots/ makes a
// figure of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace hyfreedp::results {

struct CurvePoint {
  double x = 0;
  double y = 0;
  std::optional<double> low = {};  // of a band or an error bar
  std::optional<double> high = {};
};

struct Curve {
  std::string title;  // in the legend
  // Curves of one colour belong together; colour-blind readers can tell 0, 1, 2, ... apart.
  int colour = 0;
  bool dashed = false;
  bool markers = false;
  bool line = true;  // false: the markers alone
  std::vector<CurvePoint> points;
};

struct CurvePanel {
  std::string title;
  std::string x_label;  // with its unit
  std::string y_label;
  bool x_logarithmic = false;
  bool y_logarithmic = false;
  std::vector<Curve> curves;
};

struct CurveFigure {
  std::string name;  // of its files
  std::string title;
  std::string caption;  // what it shows, in words
  std::vector<CurvePanel> panels;
};

}  // namespace hyfreedp::results
