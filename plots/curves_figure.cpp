#include "plots/curves_figure.h"

#include <algorithm>
#include <array>

#include "plots/sheet.h"

namespace hyfreedp::plots {
namespace {

constexpr std::size_t kFewPoints = 2;  // a line of no more carries no sparse markers

Line line_of(const results::Curve& curve) {
  Line line{.style = style_of_number(curve.colour, curve.dashed), .points = {}};
  line.markers = curve.markers;
  line.line = curve.line;
  for (const auto& point : curve.points) {
    line.points.push_back({.x = point.x, .y = point.y, .low = point.low, .high = point.high});
    const bool interval = point.low && point.high;
    // A line has a band, markers have bars.
    line.error_bars = line.error_bars || (interval && !curve.line);
    line.band = line.band || (interval && curve.line);
  }
  if (!curve.line || line.points.size() == 1) line.markers = true;
  return line;
}

SheetPanel panel_of(const results::CurvePanel& content) {
  SheetPanel panel{.title = content.title,
                   .x = {.label = content.x_label, .logarithmic = content.x_logarithmic},
                   .y = {.label = content.y_label, .logarithmic = content.y_logarithmic},
                   .lines = {}};
  std::vector<Line> straight;  // of two points: a level, told apart by its dashes
  for (const auto& curve : content.curves) {
    auto line = line_of(curve);
    (line.points.size() <= kFewPoints && !line.markers ? straight : panel.lines).push_back(std::move(line));
  }
  mark_sparsely(panel.lines);
  panel.lines.insert(panel.lines.end(), straight.begin(), straight.end());
  return panel;
}

void add_entries(const results::CurvePanel& content, const SheetPanel& panel,
                 std::vector<LegendEntry>& legend) {
  for (const auto& curve : content.curves) {
    if (curve.title.empty() || curve.points.empty()) continue;
    const auto style = style_of_number(curve.colour, curve.dashed);
    const auto known = std::find_if(legend.begin(), legend.end(), [&](const auto& entry) {
      return entry.title == curve.title && entry.style.colour == style.colour &&
             entry.style.dash == style.dash;
    });
    const bool sparse = curve.points.size() > kFewPoints && panel.lines.size() > 1;
    if (known == legend.end()) {
      legend.push_back({curve.title, style,
                        curve.markers || !curve.line || curve.points.size() == 1 || sparse, curve.line});
    }
  }
}

}  // namespace

Figure curves_figure(const results::CurveFigure& figure, const Sheet& look) {
  Sheet sheet{.name = figure.name,
              .title = figure.title,
              .caption = figure.caption,
              .panels = {},
              .box_width = look.box_width,
              .box_height = look.box_height,
              .look = look.look,
              .legend = {}};
  for (const auto& content : figure.panels) {
    sheet.panels.push_back(panel_of(content));
    add_entries(content, sheet.panels.back(), sheet.legend);
  }
  return place(sheet);
}

}  // namespace hyfreedp::plots
