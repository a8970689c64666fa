#include "plots/sheet.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include "harness/base/text.h"
#include "plots/layout.h"
#include "results/table/cell_text.h"

namespace hyfreedp::plots {
namespace {

constexpr double kGapX = 88;                 // room for the next panel's axis
constexpr double kTitleLine = 16;            // pixels
constexpr double kTitleLift = 13;            // from a box's upper edge to its title's last line
constexpr double kPixelsPerCharacter = 7.4;  // of a bold title
constexpr double kYLabelShift = 46,
                 kYLabelMost = 62;  // from a box to its y label, with short and long numbers
constexpr double kTickRoom = 22;
constexpr double kBarGap = 14;
constexpr double kBarWidth = 16;
constexpr double kBarRoom = 96;          // bar, its numbers and its label
constexpr double kSmallCharacter = 6.4;  // of a tick's name
constexpr double kLabelCharacter = 6.6;  // of an axis label
constexpr double kNameLine = 14;
constexpr std::size_t kMostNameLines = 3;
constexpr std::size_t kMarksALine = 6;

struct Range {
  double from = std::numeric_limits<double>::infinity();
  double to = -std::numeric_limits<double>::infinity();
  bool empty() const { return !(from <= to); }
  void add(double value, bool positive_only) {
    if (!std::isfinite(value) || (positive_only && !(value > 0))) return;
    from = std::min(from, value);
    to = std::max(to, value);
  }
};

std::pair<Range, Range> data_ranges(const SheetPanel& panel) {
  Range x, y;
  for (const auto& line : panel.lines) {
    for (const auto& point : line.points) {
      x.add(point.x, panel.x.logarithmic);
      y.add(point.y, panel.y.logarithmic);
      if (!line.band && !line.error_bars) continue;
      if (point.low) y.add(*point.low, panel.y.logarithmic);
      if (point.high) y.add(*point.high, panel.y.logarithmic);
    }
  }
  for (const auto& patch : panel.patches) {
    for (const double value : {patch.left, patch.right}) x.add(value, panel.x.logarithmic);
    for (const double value : {patch.bottom, patch.top}) y.add(value, panel.y.logarithmic);
  }
  return {x, y};
}

// `share`: of the range, left free at both ends.
Axis axis_of(const SheetAxis& wanted, Range range, double share, int ticks) {
  if (range.empty()) range = {wanted.logarithmic ? 0.1 : 0.0, 1};
  Axis axis;
  axis.logarithmic = wanted.logarithmic;
  if (wanted.logarithmic) {
    const double pad = range.to > range.from ? std::pow(range.to / range.from, share) : 2;
    axis.from = wanted.from.value_or(range.from / pad);
    axis.to = wanted.to.value_or(range.to * pad);
  } else {
    const double pad =
        range.to > range.from ? share * (range.to - range.from) : std::max(0.1 * std::abs(range.to), 1e-9);
    axis.from = wanted.from.value_or(range.from >= 0 ? std::max(0.0, range.from - pad) : range.from - pad);
    axis.to = wanted.to.value_or(range.to + pad);
  }
  if (!(axis.to > axis.from)) axis.to = axis.from + 1;
  if (axis.logarithmic && !(axis.from > 0)) return axis;  // build_figure() says so
  axis.ticks = !wanted.ticks.empty() ? wanted.ticks
               : wanted.logarithmic  ? logarithmic_ticks(axis.from, axis.to)
                                     : linear_ticks(axis.from, axis.to, ticks);
  return axis;
}

double share_of(const Axis& axis, double value) {
  if (axis.logarithmic) return std::log(value / axis.from) / std::log(axis.to / axis.from);
  return (value - axis.from) / (axis.to - axis.from);
}

void set_range(const std::vector<double>& range, SheetAxis& axis) {
  if (range.size() != 2) return;
  axis.from = range[0];
  axis.to = range[1];
  axis.ticks.clear();
}

// Applies what the spec says of the figure's look.
Sheet with_look(Sheet sheet) {
  const auto& look = sheet.look;
  sheet.panel_width = sheet.box_width.value_or(sheet.panel_width);
  sheet.panel_height = sheet.box_height.value_or(sheet.panel_height);
  for (auto& panel : sheet.panels) {
    set_range(look.x_range, panel.x);
    set_range(look.y_range, panel.y);
    panel.x.label = look.x_label.value_or(panel.x.label);
    panel.y.label = look.y_label.value_or(panel.y.label);
  }
  for (const auto& [name, range] : {std::pair{"x", &look.x_range}, std::pair{"y", &look.y_range}}) {
    if (range->size() != 2) continue;
    sheet.caption += fmt::format(" Shown is {} from {} to {} alone.", name, short_number((*range)[0]),
                                 short_number((*range)[1]));
  }
  return sheet;
}

bool is_shown(const Axis& axis, double value) {
  const double slack = 1e-9 * std::abs(axis.to - axis.from);
  return value >= axis.from - slack && value <= axis.to + slack;
}

class Placer {
 public:
  explicit Placer(const Sheet& sheet) : sheet_(with_look(sheet)) {}

  Figure place() {
    measure();
    set_font(figure_, sheet_.look);
    double top = figure_.height;
    for (std::size_t row = 0; row < rows_; ++row) {
      top -= title_height_;
      for (std::size_t column = 0; column < columns_; ++column) {
        const auto index = row * columns_ + column;
        if (index < sheet_.panels.size())
          place_panel(sheet_.panels[index], kLeftMargin + column * step_, top);
      }
      top -= sheet_.panel_height + bottom_room_;
    }
    place_legend(top);
    return std::move(figure_);
  }

 private:
  void measure() {
    figure_.name = sheet_.name;
    figure_.title = sheet_.title;
    figure_.caption = sheet_.caption;
    const auto count = std::max<std::size_t>(sheet_.panels.size(), 1);
    columns_ = sheet_.columns > 0 ? std::min(sheet_.columns, count) : count <= 2 ? count : count == 4 ? 2 : 3;
    rows_ = (count + columns_ - 1) / columns_;
    const bool bars = std::any_of(sheet_.panels.begin(), sheet_.panels.end(),
                                  [](const auto& panel) { return panel.bar.has_value(); });
    measure_names();
    std::size_t label_lines = 1;
    for (const auto& panel : sheet_.panels) label_lines = std::max(label_lines, label_of(panel).size());
    bottom_room_ = kBottomMargin + name_room_ + kTitleLine * static_cast<double>(label_lines - 1);
    step_ = sheet_.panel_width + kGapX + (bars ? kBarRoom : 0);
    std::size_t lines = 0;
    for (const auto& panel : sheet_.panels) lines = std::max(lines, title_lines(panel).size());
    title_height_ = kTitleLift + kTitleLine * static_cast<double>(std::max<std::size_t>(lines, 1));
    figure_.width = kLeftMargin + static_cast<double>(columns_) * step_ - kGapX + kRightMargin;
    figure_.height = static_cast<double>(rows_) * (title_height_ + sheet_.panel_height + bottom_room_);
  }

  std::vector<std::string> label_of(const SheetPanel& panel) const {
    return results::wrap(panel.x.label, static_cast<std::size_t>(sheet_.panel_width / kLabelCharacter));
  }

  // Characters that a name along x may take across.
  std::size_t name_width(const SheetPanel& panel) const {
    const auto count = std::max<std::size_t>(panel.x.ticks.size(), 1);
    return static_cast<std::size_t>(sheet_.panel_width / static_cast<double>(count) / kSmallCharacter);
  }

  void measure_names() {
    std::size_t lines = 1, longest = 0;
    for (const auto& panel : sheet_.panels) {
      if (!panel.names) continue;
      for (const auto& tick : panel.x.ticks) {
        const auto wrapped = results::wrap(tick.text, name_width(panel));
        lines = std::max(lines, wrapped.size());
        longest = std::max(longest, results::display_width(tick.text));
        for (const auto& line : wrapped)
          turned_ = turned_ || results::display_width(line) > name_width(panel);
      }
    }
    turned_ = turned_ || lines > kMostNameLines;
    name_room_ = turned_ ? std::max(0.0, kSmallCharacter * static_cast<double>(longest) - kNameLine)
                         : kNameLine * static_cast<double>(lines - 1);
  }

  std::vector<std::string> title_lines(const SheetPanel& panel) const {
    if (panel.title.empty()) return {};
    return results::wrap(panel.title, static_cast<std::size_t>(sheet_.panel_width / kPixelsPerCharacter));
  }

  void place_panel(const SheetPanel& panel, double left, double top) {
    Box box;
    box.left = left;
    box.right = left + sheet_.panel_width;
    box.top = top;
    box.bottom = top - sheet_.panel_height;
    const auto [x, y] = data_ranges(panel);
    const bool markers = std::any_of(panel.lines.begin(), panel.lines.end(),
                                     [](const auto& line) { return line.markers || line.error_bars; });
    box.x = axis_of(panel.x, x, markers ? 0.04 : 0, 5);
    box.y = axis_of(panel.y, y, 0.05, 6);
    box.lines = panel.lines;
    box.patches = panel.patches;
    add_texts(panel, box);
    if (panel.names) write_names(panel, box);
    if (panel.bar) add_bar(*panel.bar, box);
    figure_.boxes.push_back(std::move(box));
  }

  void add_texts(const SheetPanel& panel, const Box& box) {
    const double middle = (box.left + box.right) / 2;
    double drop = kAxisLabelDrop + name_room_;
    for (const auto& line : label_of(panel)) {
      figure_.texts.push_back({middle, box.bottom - drop, line, Text::Align::centre, false, false});
      drop += kTitleLine;
    }
    std::size_t longest = 1;
    for (const auto& tick : box.y.ticks) longest = std::max(longest, results::display_width(tick.text));
    const double shift =
        std::clamp(kLabelCharacter * static_cast<double>(longest) + kTickRoom, kYLabelShift, kYLabelMost);
    figure_.texts.push_back(
        {box.left - shift, (box.bottom + box.top) / 2, panel.y.label, Text::Align::centre, false, true});
    auto lines = title_lines(panel);
    std::reverse(lines.begin(), lines.end());
    double y = box.top + kTitleLift;
    for (const auto& line : lines) {
      figure_.texts.push_back({box.left, y, line, Text::Align::left, true, false});
      y += kTitleLine;
    }
    const bool is_cut = !sheet_.look.x_range.empty() || !sheet_.look.y_range.empty();
    for (const auto& text : panel.texts) {
      if (is_cut && (!is_shown(box.x, text.x) || !is_shown(box.y, text.y))) continue;
      Text placed{box.left + share_of(box.x, text.x) * (box.right - box.left),
                  box.bottom + share_of(box.y, text.y) * (box.top - box.bottom), text.text, text.align};
      placed.colour = text.colour;
      placed.size = text.size;
      figure_.texts.push_back(std::move(placed));
    }
  }

  // Names along x are texts of the figure: gnuplot breaks no lines and turns all ticks of the
  // canvas alike.
  void write_names(const SheetPanel& panel, Box& box) {
    for (const auto& tick : box.x.ticks) {
      const double x = box.left + share_of(box.x, tick.at) * (box.right - box.left);
      double y = box.bottom - (turned_ ? 10 : 16);
      for (const auto& line :
           turned_ ? std::vector{tick.text} : results::wrap(tick.text, name_width(panel))) {
        Text text{x, y, line, turned_ ? Text::Align::right : Text::Align::centre, false, turned_};
        text.size = 11;
        figure_.texts.push_back(std::move(text));
        y -= kNameLine;
      }
    }
    box.x.show_ticks = false;
  }

  void add_bar(const ColourBar& bar, const Box& beside) {
    Box box;
    box.left = beside.right + kBarGap;
    box.right = box.left + kBarWidth;
    box.bottom = beside.bottom;
    box.top = beside.top;
    const auto count = static_cast<double>(bar.colours.size());
    // Each slice reaches to the top, so that no seam shows between two.
    for (std::size_t i = 0; i < bar.colours.size(); ++i) {
      box.patches.push_back({0, 1, static_cast<double>(i) / count, 1, bar.colours[i]});
    }
    box.x.show_ticks = false;
    box.x.ticks = {{-9, ""}};  // none: gnuplot draws even one without length
    box.y = box.x;
    box.bare = true;
    std::size_t longest = 1;
    const Axis scale{.from = bar.from, .to = bar.to, .logarithmic = bar.logarithmic};
    for (const auto& tick :
         bar.logarithmic ? logarithmic_ticks(bar.from, bar.to) : linear_ticks(bar.from, bar.to, 5)) {
      Text text{box.right + 6, box.bottom + share_of(scale, tick.at) * (box.top - box.bottom), tick.text};
      text.size = 11;
      longest = std::max(longest, results::display_width(tick.text));
      figure_.texts.push_back(std::move(text));
    }
    figure_.texts.push_back({box.right + kTickRoom + kLabelCharacter * static_cast<double>(longest),
                             (box.bottom + box.top) / 2, bar.label, Text::Align::centre, false, true});
    figure_.boxes.push_back(std::move(box));
  }

  // Places the legend at the right of one column, else beneath, where a figure of a given width has
  // room for it.
  void place_legend(double below) {
    if (sheet_.legend.empty()) return;
    if (columns_ == 1 && sheet_.look.size.empty()) {
      const double left = figure_.width;
      add_legend(figure_, sheet_.legend, figure_.height - title_height_);
      figure_.width = left + legend_width(sheet_.legend);
      return;
    }
    add_legend_beneath(figure_, sheet_.legend, below);
  }

  Sheet sheet_;
  Figure figure_;
  std::size_t columns_ = 1, rows_ = 1;
  double step_ = 0, title_height_ = 0, bottom_room_ = 0, name_room_ = 0;
  bool turned_ = false;
};

}  // namespace

Figure place(const Sheet& sheet) { return Placer(sheet).place(); }

Line stroke(std::vector<Point> points, const std::string& colour, double width, int dash) {
  LineStyle style;
  style.colour = colour;
  style.dash = dash;
  Line line{.style = style, .points = std::move(points)};
  line.width = width;
  return line;
}

void mark_sparsely(std::vector<Line>& lines) {
  if (lines.size() < 2) return;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    auto& line = lines[i];
    if (line.markers || !line.line) continue;
    line.markers = true;
    // Lines that coincide still show both: no two mark the same point.
    const auto apart = std::min(lines.size(), std::max<std::size_t>(1, line.points.size() / 2));
    line.marker_stride = std::max({std::size_t{1}, line.points.size() / kMarksALine, apart});
    line.marker_offset = i * line.marker_stride / lines.size();
  }
}

}  // namespace hyfreedp::plots
