#include "plots/accuracy_figure.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "harness/base/text.h"
#include "plots/layout.h"
#include "results/cell_text.h"

namespace hyfreedp::plots {
namespace {

using results::CellModel;
using results::PanelModel;
using results::TableModel;

constexpr double kBoxWidth = 330;
constexpr double kBoxHeight = 330;
constexpr double kBoxGap = 58;
constexpr double kSpread = 0.24;  // rows stand side by side over that share of the smallest distance of ticks
constexpr double kBreakGap = 0.30;    // share of the range that must be empty for a broken axis
constexpr double kBreakMinRange = 5;  // percentage points
constexpr double kLowerShare = 0.24;  // of the box's height, beneath the break
constexpr double kBreakSpace = 10;    // pixels between the two parts
constexpr double kPixelsPerCharacter = 7.6;

struct Range {
  double from = 0, to = 0;
};

// Positions of the columns: log of epsilon; the non-private arm one step to the right of the largest.
std::vector<double> positions(const PanelModel& panel) {
  std::vector<double> at;
  for (const auto& epsilon : panel.columns) {
    at.push_back(epsilon ? std::log(*epsilon) : at.empty() ? 0 : at.back() + 1);
  }
  return at;
}

double smallest_distance(const std::vector<double>& at) {
  double smallest = 1;
  for (std::size_t i = 1; i < at.size(); ++i) smallest = std::min(smallest, at[i] - at[i - 1]);
  return smallest;
}

std::vector<double> means_of(const PanelModel& panel) {
  std::vector<double> means;
  for (const auto& row : panel.rows) {
    for (const auto& cell : row.cells) {
      if (cell.kind == CellModel::Kind::value) means.push_back(cell.mean);
    }
  }
  std::sort(means.begin(), means.end());
  return means;
}

double largest_sd(const PanelModel& panel, Range within) {
  double largest = 0;
  for (const auto& row : panel.rows) {
    for (const auto& cell : row.cells) {
      if (cell.sd && cell.mean >= within.from && cell.mean <= within.to)
        largest = std::max(largest, *cell.sd);
    }
  }
  return largest;
}

Range padded(const PanelModel& panel, Range range) {
  const double pad = std::max({0.05 * (range.to - range.from), 0.3, largest_sd(panel, range)});
  return {std::max(0.0, range.from - pad), std::min(100.0, range.to + pad)};
}

// One range, or two (lower, upper) where a wide gap leaves most means above it.
std::vector<Range> ranges_of(const PanelModel& panel, const std::vector<double>& means) {
  const double span = means.back() - means.front();
  std::size_t gap_at = 0;
  double gap = 0;
  for (std::size_t i = 1; i < means.size(); ++i) {
    if (means[i] - means[i - 1] > gap) gap = means[i] - means[i - 1], gap_at = i;
  }
  const bool most_above = 2 * gap_at < means.size();
  if (span < kBreakMinRange || gap < kBreakGap * span || !most_above) {
    return {padded(panel, {means.front(), means.back()})};
  }
  auto lower = padded(panel, {means.front(), means[gap_at - 1]});
  auto upper = padded(panel, {means[gap_at], means.back()});
  const double middle = (means[gap_at - 1] + means[gap_at]) / 2;  // long bars must not make the parts overlap
  lower.to = std::min(lower.to, middle);
  upper.from = std::max(upper.from, middle);
  return {lower, upper};
}

std::vector<Line> lines_of(const PanelModel& panel, const std::vector<double>& at, const RowStyles& styles) {
  std::vector<Line> lines;
  const double room = kSpread * smallest_distance(at);
  const double count = static_cast<double>(panel.rows.size());
  for (std::size_t r = 0; r < panel.rows.size(); ++r) {
    const auto& row = panel.rows[r];
    Line line{.style = styles.of(row.id), .points = {}, .markers = true, .error_bars = true, .band = false};
    const double shift = count > 1 ? room * (static_cast<double>(r) / (count - 1) - 0.5) : 0;
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      const auto& cell = row.cells[c];
      if (cell.kind != CellModel::Kind::value) continue;
      Point point{.x = at[c] + shift, .y = cell.mean};
      if (cell.sd) point.low = cell.mean - *cell.sd, point.high = cell.mean + *cell.sd;
      point.gap_before = !cell.epsilon_target;
      line.points.push_back(point);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

Axis epsilon_axis(const PanelModel& panel, const std::vector<double>& at) {
  Axis axis;
  const double pad = 0.35 * smallest_distance(at);
  axis.from = at.front() - pad;
  axis.to = at.back() + pad;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto& epsilon = panel.columns[i];
    axis.ticks.push_back({at[i], epsilon ? short_number(*epsilon) : "non-private"});
  }
  return axis;
}

void add_panel(Figure& figure, const PanelModel& panel, const RowStyles& styles, double left, double bottom) {
  const auto means = means_of(panel);
  const auto at = positions(panel);
  auto ranges = ranges_of(panel, means);
  const double top = bottom + kBoxHeight;
  Box box;
  box.left = left;
  box.right = left + kBoxWidth;
  box.x = epsilon_axis(panel, at);
  box.lines = lines_of(panel, at, styles);
  const bool broken = ranges.size() == 2;
  const double split = bottom + kLowerShare * kBoxHeight;
  box.bottom = bottom;
  box.top = broken ? split : top;
  box.y.from = ranges.front().from;
  box.y.to = ranges.front().to;
  box.y.ticks = linear_ticks(box.y.from, box.y.to, broken ? 3 : 7);
  figure.boxes.push_back(box);
  if (broken) {
    box.bottom = split + kBreakSpace;
    box.top = top;
    box.y.from = ranges.back().from;
    box.y.to = ranges.back().to;
    box.y.ticks = linear_ticks(box.y.from, box.y.to, 6);
    box.x.show_ticks = false;
    box.bottom_border = false;
    box.break_below = true;
    figure.boxes.push_back(box);
  }
  figure.texts.push_back({left + kBoxWidth / 2, bottom - kAxisLabelDrop, "target ε (log scale)",
                          Text::Align::centre, false, false});
  double y = top + 14;
  auto lines = results::wrap(panel.title, static_cast<std::size_t>(kBoxWidth / kPixelsPerCharacter));
  std::reverse(lines.begin(), lines.end());
  for (const auto& line : lines) {
    figure.texts.push_back({left, y, line, Text::Align::left, true, false});
    y += 16;
  }
}

}  // namespace

std::optional<Figure> accuracy_figure(const TableModel& table) {
  std::vector<const PanelModel*> panels;
  std::vector<std::string> shown;
  for (const auto& panel : table.panels) {
    if (means_of(panel).empty()) continue;
    panels.push_back(&panel);
    for (const auto& row : panel.rows) {
      if (std::any_of(row.cells.begin(), row.cells.end(),
                      [](const auto& cell) { return cell.kind == CellModel::Kind::value; })) {
        shown.push_back(row.id);
      }
    }
  }
  if (panels.empty()) return std::nullopt;
  const RowStyles styles(table);
  Figure figure;
  figure.name = "accuracy";
  figure.title = "Test accuracy against ε";
  figure.caption =
      "Test accuracy in percent against the target ε: mean over seeds, bars of one sample standard "
      "deviation; lines of a "
      "column are shifted sideways so that bars do not hide each other. Rows under paper accounting spent "
      "more than the "
      "target; the table has what.";
  const std::size_t per_row = std::min<std::size_t>(2, panels.size());
  const std::size_t rows = (panels.size() + per_row - 1) / per_row;
  const double cell_height = kBoxHeight + kBottomMargin + 2 * kTitleHeight;
  figure.width = kLeftMargin + static_cast<double>(per_row) * (kBoxWidth + kBoxGap) - kBoxGap + kRightMargin;
  figure.height = static_cast<double>(rows) * cell_height;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const double left = kLeftMargin + static_cast<double>(i % per_row) * (kBoxWidth + kBoxGap);
    const double bottom = figure.height - static_cast<double>(i / per_row + 1) * cell_height + kBottomMargin;
    add_panel(figure, *panels[i], styles, left, bottom);
    if (i % per_row == 0) {
      figure.texts.push_back(
          {18, bottom + kBoxHeight / 2, "test accuracy (%)", Text::Align::centre, false, true});
    }
  }
  add_legend(figure, styles.legend(shown, true), figure.height - 2 * kTitleHeight);
  return figure;
}

}  // namespace hyfreedp::plots
