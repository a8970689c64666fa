#include "harness/cli/run/replay_figure.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "plots/layout.h"
#include "plots/palette.h"

namespace hyfreedp::cli {
namespace {

using plots::Text;

constexpr double kBoxWidth = 380;
constexpr double kBoxHeight = 330;
constexpr double kBoxGap = 84;
constexpr double kApart = 1.012;  // between neighbouring lines, of epsilon

// A row's place in the legend and its style, equal in all panels.
struct Styles {
  explicit Styles(const std::vector<runner::ReplayedRow>& all) : colours(methods_of(all)) {}

  std::vector<std::string> rows;
  std::map<std::string, plots::LineStyle> by_row;

  void add(const runner::ReplayedRow& row) {
    if (by_row.contains(row.row)) return;
    const auto variant = variants[row.method]++;
    by_row[row.row] = colours.style(row.method, variant, rows.size());
    rows.push_back(row.row);
  }

 private:
  static std::vector<std::string> methods_of(const std::vector<runner::ReplayedRow>& all) {
    std::vector<std::string> methods;
    for (const auto& row : all) methods.push_back(row.method);
    return methods;
  }

  plots::MethodColours colours;
  std::map<std::string, std::size_t> variants;
};

bool is_drawn(const runner::ReplayedRow& row) { return row.epsilon && row.reported > 0; }

void scale(plots::Box& box) {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  double lowest = least;
  double highest = -least;
  for (const auto& line : box.lines) {
    for (const auto& point : line.points) {
      least = std::min(least, point.x);
      most = std::max(most, point.x);
      lowest = std::min(lowest, *point.low);
      highest = std::max(highest, *point.high);
    }
  }
  box.x.logarithmic = true;
  box.x.from = least / 1.2;
  box.x.to = most * 1.2;
  box.x.ticks = plots::logarithmic_ticks(box.x.from, box.x.to);
  const double margin = std::max(0.05 * (highest - lowest), 0.1);
  box.y.from = lowest - margin;
  box.y.to = highest + margin;
  box.y.ticks = plots::linear_ticks(box.y.from, box.y.to, 6);
}

// Rows at the same total epsilon would hide each other: lines stand side by side, each moved by the
// same factor everywhere.
void set_apart(std::vector<plots::Line>& lines) {
  if (lines.size() < 2) return;
  const double middle = static_cast<double>(lines.size() - 1) / 2;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const double factor = std::pow(kApart, static_cast<double>(i) - middle);
    for (auto& point : lines[i].points) point.x *= factor;
  }
}

plots::Box box_of(const std::vector<const runner::ReplayedRow*>& rows, const Styles& styles, double left) {
  plots::Box box{.left = left,
                 .right = left + kBoxWidth,
                 .bottom = plots::kBottomMargin + plots::kTitleHeight,
                 .top = plots::kBottomMargin + plots::kTitleHeight + kBoxHeight,
                 .x = {},
                 .y = {},
                 .lines = {}};
  for (const auto& name : styles.rows) {
    plots::Line line{.style = styles.by_row.at(name), .points = {}, .markers = true, .error_bars = true};
    for (const auto* row : rows) {
      if (row->row == name) line.points.push_back({*row->epsilon, row->mean, row->low, row->high});
    }
    std::ranges::sort(line.points, {}, &plots::Point::x);
    if (!line.points.empty()) box.lines.push_back(std::move(line));
  }
  set_apart(box.lines);
  scale(box);
  return box;
}

}  // namespace

Result<plots::Figure> replay_figure(const ReplayFigure& request) {
  Styles styles(request.rows);
  std::vector<std::string> panels;
  std::map<std::string, std::vector<const runner::ReplayedRow*>> by_panel;
  for (const auto& row : request.rows) {
    if (!is_drawn(row)) continue;
    styles.add(row);
    if (!by_panel.contains(row.panel)) panels.push_back(row.panel);
    by_panel[row.panel].push_back(&row);
  }
  if (panels.empty()) return error("There is nothing to draw: no private row has a value.");
  plots::Figure figure{.name = "replay",
                       .title = request.title,
                       .caption = fmt::format("{}. Rows are set apart by about a hundredth of ε. {}{}{}",
                                              request.title, request.watermark,
                                              request.confidential.empty() ? "" : " ", request.confidential)};
  const auto boxes = static_cast<double>(panels.size());
  figure.width = plots::kLeftMargin + boxes * kBoxWidth + (boxes - 1) * kBoxGap + plots::kRightMargin;
  figure.height = plots::kBottomMargin + kBoxHeight + 3.4 * plots::kTitleHeight;
  figure.texts.push_back(
      {plots::kLeftMargin, figure.height - 18, request.title, Text::Align::left, true, false});
  figure.texts.push_back({plots::kLeftMargin, 12, request.watermark, Text::Align::left, false, false});
  if (!request.confidential.empty()) {
    figure.texts.push_back(
        {plots::kLeftMargin, figure.height - 36, request.confidential, Text::Align::left, true, false});
  }
  double left = plots::kLeftMargin;
  for (const auto& panel : panels) {
    auto box = box_of(by_panel[panel], styles, left);
    const double middle = (box.left + box.right) / 2;
    figure.texts.push_back({middle, box.top + 12, panel, Text::Align::centre, false, false});
    figure.texts.push_back({middle, box.bottom - plots::kAxisLabelDrop,
                            "total ε, tuning included (log scale)", Text::Align::centre, false, false});
    figure.texts.push_back({box.left - 52, (box.bottom + box.top) / 2, "mean test accuracy, %",
                            Text::Align::centre, false, true});
    figure.boxes.push_back(std::move(box));
    left += kBoxWidth + kBoxGap;
  }
  std::vector<plots::LegendEntry> legend;
  for (const auto& name : styles.rows) {
    const auto title = request.titles.find(name);
    legend.push_back({title == request.titles.end() ? name : title->second, styles.by_row.at(name), true});
  }
  plots::add_legend(figure, std::move(legend), plots::kBottomMargin + plots::kTitleHeight + kBoxHeight);
  return figure;
}

}  // namespace hyfreedp::cli
