// A figure as data, and the gnuplot script that draws it.
//
// A figure is a set of boxes on a canvas (pixels, origin at the lower left, as in gnuplot), with
// lines in the boxes, texts beside them and one legend outside. This file does not depend on the
// store; sheet.h lays boxes out, and the files *_figure.cpp fill them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "plots/palette.h"

namespace hyfreedp::plots {

struct Point {
  double x = 0;
  double y = 0;
  std::optional<double> low = {};  // of the error bar or band
  std::optional<double> high = {};
  bool gap_before = false;  // no line from the previous point
};

struct Line {
  LineStyle style;
  std::vector<Point> points;
  bool markers = false;
  bool error_bars = false;
  bool band = false;  // filled between low and high
  bool line = true;   // false: markers, bars or band alone
  // Draws a marker at every so many points, beginning at the offset, so that lines can be told
  // apart in grey.
  std::size_t marker_stride = 1;
  std::size_t marker_offset = 0;
  double marker_size = 0.8;
  double width = 1.8;
};

// A filled rectangle in the box's own units, beneath the lines.
struct Patch {
  double left = 0, right = 0, bottom = 0, top = 0;
  std::string colour;  // "#RRGGBB"
};

struct Tick {
  double at = 0;
  std::string text;
};

struct Axis {
  double from = 0;
  double to = 1;
  bool logarithmic = false;
  bool show_ticks = true;   // false: grid lines without tick labels
  std::vector<Tick> ticks;  // empty: gnuplot's own
};

struct Box {
  double left = 0, right = 0, bottom = 0, top = 0;  // pixels
  Axis x;
  Axis y;
  bool bottom_border = true;
  bool break_below = false;  // the y axis continues in the box beneath
  std::vector<Line> lines;
  std::vector<Patch> patches = {};
  bool bare = false;  // neither borders nor grid
};

struct Text {
  double x = 0, y = 0;  // pixels
  std::string text;
  enum class Align { left, centre, right } align = Align::left;
  bool bold = false;
  bool upright = false;     // turned by 90 degrees
  std::string colour = {};  // empty: ink
  double size = 12;         // points of the SVG
};

struct LegendEntry {
  std::string title;
  LineStyle style;
  bool markers = false;
  bool line = true;  // false: the marker alone
  double marker_size = 0.8;
};

struct Figure {
  std::string name;     // of its files
  std::string title;    // above it in the report
  std::string caption;  // what it shows, in words; also the alternative text
  double width = 0, height = 0;
  std::vector<Box> boxes;
  std::vector<Text> texts;
  std::vector<LegendEntry> legend;
  double legend_left = 0, legend_top = 0;  // pixels
  std::string font;                        // a family; empty: sans-serif
  double scale = 1;                        // of the canvas, its texts included
  std::size_t legend_columns = 1;          // filled one after the other
};

// A gnuplot script that writes the files `svg` and `png`. It contains its data and runs by itself.
std::string gnuplot_script(const Figure& figure, const std::string& svg, const std::string& png);

enum class FileKind { svg, png, pdf };
// A gnuplot script that writes one file.
std::string gnuplot_script(const Figure& figure, FileKind kind, const std::string& path);

inline constexpr double kPdfPoints = 8;  // size of the usual text in a PDF file of scale 1

// Number of characters at which a legend's title is broken, for the room to the right of the boxes.
inline constexpr std::size_t kLegendCharacters = 34;
inline constexpr double kLegendColumnWidth = 290;  // pixels
// Height of the highest column.
double legend_height(const std::vector<LegendEntry>& legend, std::size_t columns = 1);
// Width of one column, that of its longest line.
double legend_width(const std::vector<LegendEntry>& legend);

}  // namespace hyfreedp::plots
