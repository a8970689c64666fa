#include "plots/curves_figure.h"

#include <cmath>
#include <set>

#include "tests/plots/pictures.h"

namespace hyfreedp::plots {
namespace curves_figure_test {

// Like what an accountant gives: two panels, one logarithmic; a band, markers with bars, a dashed
// level.
results::CurveFigure some() {
  results::CurveFigure figure{
      .name = "curves-of-an-accountant", .title = "Noise", .caption = "Made up.", .panels = {}};
  for (const bool logarithmic : {false, true}) {
    results::CurvePanel panel{.title = logarithmic
                                           ? "Noise of the losses, by how often they are released and how"
                                           : "Noise of the gradients",
                              .x_label = "steps between two probes K",
                              .y_label = logarithmic ? "noise multiplier (log scale)" : "noise multiplier",
                              .x_logarithmic = logarithmic,
                              .y_logarithmic = logarithmic,
                              .curves = {}};
    for (int colour = 0; colour < 4; ++colour) {
      results::Curve curve{.title = "accountant " + std::to_string(colour),
                           .colour = colour,
                           .dashed = colour % 2 == 1,
                           .markers = colour == 2,
                           .line = colour != 3,
                           .points = {}};
      for (int k = 1; k <= 40; k += colour == 3 ? 6 : 1) {
        results::CurvePoint point{.x = double(k), .y = (1 + colour) * 30 / std::sqrt(double(k))};
        if (colour == 0 || colour == 3) point.low = 0.8 * point.y, point.high = 1.25 * point.y;
        curve.points.push_back(point);
      }
      panel.curves.push_back(std::move(curve));
    }
    panel.curves.push_back(
        {.title = "a level", .colour = 4, .dashed = true, .points = {{.x = 1, .y = 20}, {.x = 40, .y = 20}}});
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

TEST(CurvesFigure, HoldsEveryCurveWithItsBandBarsAndDashes) {
  const auto figure = curves_figure(some());
  ASSERT_EQ(figure.boxes.size(), 2u);
  ASSERT_EQ(figure.boxes[0].lines.size(), 5u);
  EXPECT_FALSE(figure.boxes[0].x.logarithmic);
  EXPECT_TRUE(figure.boxes[1].x.logarithmic && figure.boxes[1].y.logarithmic);
  const auto& lines = figure.boxes[0].lines;
  EXPECT_TRUE(lines[0].band && !lines[0].error_bars);
  EXPECT_TRUE(lines[3].error_bars && !lines[3].band && !lines[3].line && lines[3].markers);
  EXPECT_NE(lines[1].style.dash, lines[0].style.dash);
  EXPECT_EQ(lines[0].points.size(), 40u);
  EXPECT_DOUBLE_EQ(lines[0].points[3].y, 15);
  EXPECT_DOUBLE_EQ(*lines[0].points[3].high, 18.75);
  EXPECT_EQ(figure.legend.size(), 5u) << "a title in both panels is one entry";
}

TEST(CurvesFigure, RangesHoldTheDataAndTicksLieInside) {
  for (const auto& box : curves_figure(some()).boxes) {
    for (const auto* axis : {&box.x, &box.y}) {
      EXPECT_GE(axis->ticks.size(), 3u);
      for (const auto& tick : axis->ticks) {
        EXPECT_GE(tick.at, axis->from * 0.999);
        EXPECT_LE(tick.at, axis->to * 1.001);
      }
    }
    for (const auto& line : box.lines) {
      for (const auto& point : line.points) {
        EXPECT_GE(point.low.value_or(point.y), box.y.from);
        EXPECT_LE(point.high.value_or(point.y), box.y.to);
      }
    }
  }
}

TEST(CurvesFigure, LinesOfOnePanelDifferWithoutColour) {
  const auto figure = curves_figure(some());
  std::set<std::pair<int, int>> looks;
  for (const auto& line : figure.boxes[0].lines)
    looks.insert({line.markers ? line.style.marker : -1, line.style.dash});
  EXPECT_EQ(looks.size(), figure.boxes[0].lines.size());
}

TEST(CurvesFigure, IsDrawnOnItsCanvas) {
  const auto figure = curves_figure(some());
  expect_on_canvas(figure);
  check_picture(figure);
  const auto script = gnuplot_script(figure, FileKind::svg, "x.svg");
  EXPECT_NE(script.find("\n4 15 12 18.75\n"), std::string::npos) << "the script holds its data";
}

TEST(CurvesFigure, ValuesThatNoAxisHasLeaveAGap) {
  auto content = some();
  content.name = "curves-with-gaps";
  content.panels[1].curves[0].points[5].y = 0;
  content.panels[1].curves[0].points[6].y = INFINITY;
  content.panels.resize(2);
  content.panels[0].curves = {{.title = "one point", .points = {{.x = 3, .y = 2}}}};
  const auto figure = curves_figure(content);
  EXPECT_GT(figure.boxes[0].y.to, figure.boxes[0].y.from);
  EXPECT_GT(figure.boxes[1].y.from, 0);
  EXPECT_TRUE(std::isfinite(figure.boxes[1].y.to));
  check_picture(figure);
}

}  // namespace curves_figure_test
}  // namespace hyfreedp::plots
