#include "plots/accuracy_figure.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <iterator>

#include "harness/base/text.h"
#include "plots/layout.h"
#include "results/table/cell_text.h"

namespace hyfreedp::plots {
namespace {

using results::CellModel;
using results::PanelModel;
using results::TableModel;

constexpr double kBoxGap = 58;
// rows stand side by side over that share of the smallest distance of ticks
constexpr double kSpread = 0.24;
constexpr double kBreakGap = 0.30;    // share of the range that must be empty for a broken axis
constexpr double kBreakMinRange = 5;  // percentage points
constexpr double kLowerShare = 0.24;  // of the box's height, beneath the break
constexpr double kBreakPad = 0.2;     // each part may take this share of the gap
constexpr double kBreakSpace = 10;    // pixels between the two parts
constexpr double kPixelsPerCharacter = 7.6;
constexpr double kLeastPad = 0.03;  // of the range of epsilons, beside it

struct Range {
  double from = 0, to = 0;
};

// Positions of the columns: log of epsilon; the non-private arm one step to the right of the
// largest.
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

// A text without any token that is scored has no accuracy.
bool is_shown(const CellModel& cell) {
  return cell.kind == CellModel::Kind::value && std::isfinite(cell.mean);
}

bool has_values(const results::RowModel& row) {
  return std::any_of(row.cells.begin(), row.cells.end(), is_shown);
}

bool has_values(const PanelModel& panel) {
  return std::any_of(panel.rows.begin(), panel.rows.end(), [](const auto& row) { return has_values(row); });
}

// The values that a cell's mean is over, where there are several. Accuracies alone: of another
// metric the cell has the mean and the deviation.
std::vector<double> values_of(const CellModel& cell, bool percent) {
  std::vector<double> values;
  if (!percent || cell.n < 2) return values;
  for (const auto& seed : cell.seeds) {
    if (seed.accuracy) values.push_back(*seed.accuracy);
  }
  return values;
}

// The range that a cell shows: its mean, the bar around it, and each seed's value.
Range extent_of(const CellModel& cell, bool percent) {
  const double half = cell.sd.value_or(0);
  Range extent = {cell.mean - half, cell.mean + half};
  for (const double value : values_of(cell, percent)) {
    extent = {std::min(extent.from, value), std::max(extent.to, value)};
  }
  return extent;
}

// The ranges of all cells with a value, by their lower ends.
std::vector<Range> extents_of(const PanelModel& panel, bool percent) {
  std::vector<Range> extents;
  for (const auto& row : panel.rows) {
    for (const auto& cell : row.cells) {
      if (is_shown(cell)) extents.push_back(extent_of(cell, percent));
    }
  }
  std::sort(extents.begin(), extents.end(), [](const Range& a, const Range& b) { return a.from < b.from; });
  return extents;
}

Range padded(Range range, double most, bool percent) {
  const double pad = std::min(std::max(0.05 * (range.to - range.from), percent ? 0.3 : 0.001), most);
  return {std::max(0.0, range.from - pad), percent ? std::min(100.0, range.to + pad) : range.to + pad};
}

// One range, or two (lower, upper) where a wide gap, which no bar reaches into, leaves most means
// above it.
std::vector<Range> ranges_of(const PanelModel& panel, bool percent) {
  const auto extents = extents_of(panel, percent);
  Range lower = extents.front(), all = extents.front(), at_gap, above;
  double gap = 0;
  std::size_t beneath = 0;
  for (std::size_t i = 1; i < extents.size(); ++i) {
    if (extents[i].from - all.to > gap) {
      gap = extents[i].from - all.to;
      beneath = i;
      at_gap = {all.from, all.to};
      above = extents[i];
    }
    all.to = std::max(all.to, extents[i].to);
  }
  const double span = all.to - all.from;
  const bool most_above = 2 * beneath < extents.size();
  if (!percent || span < kBreakMinRange || gap < kBreakGap * span || !most_above)
    return {padded(all, span + 1, percent)};
  lower = at_gap;
  above.to = all.to;
  return {padded(lower, kBreakPad * gap, percent), padded(above, kBreakPad * gap, percent)};
}

// A line of means with bars for each row; then for each row a small mark for each seed's value:
// where seeds scatter, a mean alone says little.
std::vector<Line> lines_of(const PanelModel& panel, const std::vector<double>& at, const RowStyles& styles,
                           bool percent) {
  std::vector<Line> lines, marks;
  const double room = kSpread * smallest_distance(at);
  const double count = static_cast<double>(panel.rows.size());
  for (std::size_t r = 0; r < panel.rows.size(); ++r) {
    const auto& row = panel.rows[r];
    Line line{.style = styles.of(row.id), .points = {}, .markers = true, .error_bars = true, .band = false};
    Line seeds{.style = line.style, .points = {}, .markers = true, .line = false, .marker_size = 0.3};
    const double shift = count > 1 ? room * (static_cast<double>(r) / (count - 1) - 0.5) : 0;
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      const auto& cell = row.cells[c];
      if (!is_shown(cell)) continue;
      Point point{.x = at[c] + shift, .y = cell.mean};
      if (cell.sd) point.low = cell.mean - *cell.sd, point.high = cell.mean + *cell.sd;
      point.gap_before = !cell.epsilon_target;
      line.points.push_back(point);
      for (const double value : values_of(cell, percent)) seeds.points.push_back({.x = point.x, .y = value});
    }
    if (!seeds.points.empty()) marks.push_back(std::move(seeds));
    lines.push_back(std::move(line));
  }
  std::move(marks.begin(), marks.end(), std::back_inserter(lines));
  return lines;
}

// Names that would meet that of the tick before are left out; its line stays.
Axis epsilon_axis(const PanelModel& panel, const std::vector<double>& at, double box_width) {
  Axis axis;
  const double pad = std::max(0.35 * smallest_distance(at), kLeastPad * (at.back() - at.front()));
  axis.from = at.front() - pad;
  axis.to = at.back() + pad;
  double taken = -INFINITY;  // pixels
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto& epsilon = panel.columns[i];
    auto name = epsilon ? short_number(*epsilon) : "non-private";
    const double middle = (at[i] - axis.from) / (axis.to - axis.from) * box_width;
    const double half = static_cast<double>(name.size()) * kPixelsPerCharacter / 2;
    if (middle - half < taken) {
      name.clear();
    } else {
      taken = middle + half;
    }
    axis.ticks.push_back({at[i], std::move(name)});
  }
  return axis;
}

void add_panel(Figure& figure, const PanelModel& panel, const RowStyles& styles, double left, double bottom,
               const AccuracyLook& look) {
  const bool percent = look.unit == "%";
  const auto at = positions(panel);
  auto ranges = ranges_of(panel, percent);
  const auto& given = look.look.y_range;
  if (given.size() == 2) ranges = {{given[0], given[1]}};
  const double top = bottom + look.box_height;
  Box box;
  box.left = left;
  box.right = left + look.box_width;
  box.x = epsilon_axis(panel, at, look.box_width);
  box.lines = lines_of(panel, at, styles, percent);
  const bool broken = ranges.size() == 2;
  const double split = bottom + kLowerShare * look.box_height;
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
  figure.texts.push_back({left + look.box_width / 2, bottom - kAxisLabelDrop,
                          look.look.x_label.value_or("target ε (log scale)"), Text::Align::centre, false,
                          false});
  double y = top + 14;
  auto lines = results::wrap(panel.title, static_cast<std::size_t>(look.box_width / kPixelsPerCharacter));
  std::reverse(lines.begin(), lines.end());
  for (const auto& line : lines) {
    figure.texts.push_back({left, y, line, Text::Align::left, true, false});
    y += 16;
  }
}

}  // namespace

std::optional<Figure> accuracy_figure(const TableModel& table) {
  return accuracy_figure(table, RowStyles(table), AccuracyLook{});
}

std::optional<Figure> accuracy_figure(const TableModel& table, const RowStyles& styles,
                                      const AccuracyLook& look) {
  std::vector<const PanelModel*> panels;
  std::vector<std::string> shown;
  for (const auto& panel : table.panels) {
    if (!has_values(panel)) continue;
    panels.push_back(&panel);
    for (const auto& row : panel.rows) {
      if (has_values(row)) shown.push_back(row.id);
    }
  }
  if (panels.empty()) return std::nullopt;
  const bool percent = look.unit == "%";
  Figure figure;
  figure.name = look.name;
  figure.title = look.title;
  figure.caption = fmt::format(
      "{} against the target ε: mean over seeds, bars of one sample standard deviation{}; lines of a column "
      "are shifted "
      "sideways so that bars do not hide each other. Rows under paper accounting spent more than the target; "
      "the table has "
      "what.",
      look.metric + (percent ? " in percent" : " in nats"), percent ? ", a small mark for each seed" : "");
  const std::size_t per_row = std::min<std::size_t>(2, panels.size());
  const std::size_t rows = (panels.size() + per_row - 1) / per_row;
  const double cell_height = look.box_height + kBottomMargin + 2 * kTitleHeight;
  figure.width =
      kLeftMargin + static_cast<double>(per_row) * (look.box_width + kBoxGap) - kBoxGap + kRightMargin;
  figure.height = static_cast<double>(rows) * cell_height;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const double left = kLeftMargin + static_cast<double>(i % per_row) * (look.box_width + kBoxGap);
    const auto line = i / per_row + 1;
    const double bottom = figure.height - static_cast<double>(line) * cell_height + kBottomMargin;
    add_panel(figure, *panels[i], styles, left, bottom, look);
    if (i % per_row == 0) {
      auto label = look.unit.empty() ? look.metric : fmt::format("{} ({})", look.metric, look.unit);
      label[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(label[0])));
      label = look.look.y_label.value_or(label);
      figure.texts.push_back({18, bottom + look.box_height / 2, label, Text::Align::centre, false, true});
    }
  }
  if (const auto& range = look.look.y_range; range.size() == 2) {
    figure.caption +=
        fmt::format(" Shown is y from {} to {} alone.", short_number(range[0]), short_number(range[1]));
  }
  set_font(figure, look.look);
  const auto legend = styles.legend(shown, true);
  if (!look.look.size.empty()) {
    add_legend_beneath(figure, legend, 0);
    return figure;
  }
  const double width = figure.width + std::min(kLegendWidth, legend_width(legend));
  add_legend(figure, legend, figure.height - 2 * kTitleHeight);
  figure.width = width;
  return figure;
}

}  // namespace hyfreedp::plots
