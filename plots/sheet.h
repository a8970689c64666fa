// Panels with axes of their own, side by side, and a legend: what most figures are. Ranges and ticks follow from what is in
// a panel where it does not fix them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plots/figure.h"

namespace hyfreedp::plots {

struct SheetAxis {
  std::string label;  // with its unit
  bool logarithmic = false;
  std::optional<double> from = {}, to = {};
  std::vector<Tick> ticks = {};  // empty: round numbers
};

struct SheetText {
  double x = 0, y = 0;  // in the panel's units: the text's middle
  std::string text;
  std::string colour = {};
  double size = 11;
  Text::Align align = Text::Align::centre;
};

// A scale of colours at a panel's right.
struct ColourBar {
  std::string label;
  double from = 0, to = 1;
  bool logarithmic = false;
  std::vector<std::string> colours;  // from low to high
};

struct SheetPanel {
  std::string title;
  SheetAxis x;
  SheetAxis y;
  std::vector<Line> lines;
  std::vector<Patch> patches = {};
  std::vector<SheetText> texts = {};
  std::optional<ColourBar> bar = {};
  bool names =
      false;  // ticks of x are names: broken into lines, or turned where that does not do, with room for them
};

struct Sheet {
  std::string name, title, caption;
  std::vector<SheetPanel> panels;
  std::size_t columns = 0;  // 0: one for one panel, two for two or four, else three
  double panel_width = 300, panel_height = 230;
  std::vector<LegendEntry> legend;
};

Figure place(const Sheet& sheet);

// An outline or a rule.
Line stroke(std::vector<Point> points, const std::string& colour, double width, int dash = 1);

// Gives lines that have none a few markers, staggered, where a panel has several: colours are gone in grey.
void mark_sparsely(std::vector<Line>& lines);

}  // namespace hyfreedp::plots
