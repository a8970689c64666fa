// Parts that the figures share: positions of boxes, styles of rows, the legend.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/spec/spec.h"
#include "plots/figure.h"
#include "results/table/figure_options.h"
#include "results/table/table_model.h"

namespace hyfreedp::plots {

// Pixels.
inline constexpr double kLeftMargin = 70;
inline constexpr double kRightMargin = 20;
inline constexpr double kBottomMargin = 62;
inline constexpr double kAxisLabelDrop = 46;  // from a box's lower edge to the label of its x axis
inline constexpr double kTitleHeight = 26;    // a line of text above a box
inline constexpr double kLegendWidth = 300;

// The colours of all methods of the table, the same in every figure of it.
MethodColours colours_of(const results::TableModel& table);

// Style and title of each row id over all panels, in order of first appearance.
class RowStyles {
 public:
  explicit RowStyles(const results::TableModel& table);
  const LineStyle& of(const std::string& row) const { return styles_.at(row); }
  // The entries of the rows in `shown`.
  std::vector<LegendEntry> legend(const std::vector<std::string>& shown, bool markers) const;

 private:
  std::vector<std::string> order_;
  std::map<std::string, std::string> titles_;
  std::map<std::string, LineStyle> styles_;
};

// Step -> value.
using Curve = std::map<std::int64_t, double>;
using results::CurveBand;
// The median over the curves at the steps at which all have a finite value, with a band from the
// smallest to the largest or between the quartiles.
std::vector<Point> merged(const std::vector<Curve>& curves, CurveBand band);

// Adds a legend to the right of the figure, which becomes wider; the legend starts at `top`
// (pixels above the lower edge).
void add_legend(Figure& figure, std::vector<LegendEntry> legend, double top);
// The same beneath the figure, of which `below` pixels at the lower edge are free; it becomes
// higher.
void add_legend_beneath(Figure& figure, std::vector<LegendEntry> legend, double below);
// Font and scale of the figure, as the spec wants them.
void set_font(Figure& figure, const spec::FigureLook& look);

// Returns at most `count` round ticks (steps of 1, 2 or 5 times a power of ten) within [from, to].
std::vector<Tick> linear_ticks(double from, double to, int count);

// 1-2-5 ticks within [from, to] on a logarithmic axis; decades alone where it spans more than
// three.
std::vector<Tick> logarithmic_ticks(double from, double to);

}  // namespace hyfreedp::plots
