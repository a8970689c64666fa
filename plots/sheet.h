// Most figures: panels side by side, each with axes of its own, and a legend. Ranges and ticks
// follow from a panel's content unless the panel fixes them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/spec/spec.h"
#include "plots/figure.h"

namespace hyfreedp::plots {

struct SheetAxis {
  std::string label;  // with its unit
  bool logarithmic = false;
  std::optional<double> from = {}, to = {};
  std::vector<Tick> ticks = {};  // empty: round numbers
};

struct SheetText {
  double x = 0, y = 0;  // centre of the text, in the panel's units
  std::string text;
  std::string colour = {};
  double size = 11;
  Text::Align align = Text::Align::centre;
};

// A colour scale to the right of a panel.
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
  // Ticks of x are names: they are broken into lines, or turned if that does not suffice.
  bool names = false;
};

struct Sheet {
  std::string name, title, caption;
  std::vector<SheetPanel> panels;
  std::size_t columns = 0;  // 0: one for one panel, two for two or four, else three
  double panel_width = 300, panel_height = 230;
  std::optional<double> box_width = {}, box_height = {};  // in the place of these two
  spec::FigureLook look = {};
  std::vector<LegendEntry> legend;
};

Figure place(const Sheet& sheet);

// An outline or a line.
Line stroke(std::vector<Point> points, const std::string& colour, double width, int dash = 1);

// Adds a few staggered markers to the lines without markers, in panels with several lines, so that
// they can be told apart in grey.
void mark_sparsely(std::vector<Line>& lines);

}  // namespace hyfreedp::plots
