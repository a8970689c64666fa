#include "plots/curve_figures.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "plots/figures.h"
#include "plots/layout.h"
#include "results/table/cell_text.h"
#include "results/table/statistics.h"

namespace hyfreedp::plots {
namespace {

using results::CellModel;
using results::TableModel;

constexpr double kBoxHeight = 190;
constexpr double kBoxGap = 26;
constexpr double kTitleGap = 12;
constexpr double kPixelsPerCharacter = 7.6;
constexpr double kRowGap = 88;  // room for the x axis of the row above and the next panel's title
constexpr double kTotalWidth = 760;
constexpr double kSmallestStepSize = 1e-9;  // curves below are cut at the axis
constexpr double kLargestLoss = 6;          // nats; a diverging curve leaves the box

using CurveOf = std::function<Result<std::optional<Curve>>(const std::string& trial)>;

struct Look {
  std::string name, title, caption, y_label;
  bool band = false;
  double floor = 0;
  double ceiling = 0;
};

class CurveFigure {
 public:
  CurveFigure(const TableModel& table, Look look, CurveOf curve_of)
      : table_(table), look_(std::move(look)), curve_of_(std::move(curve_of)), styles_(table) {}

  Result<std::optional<Figure>> build() {
    for (const auto& panel : table_.panels) {
      auto row = boxes_of(panel);
      if (!row) return row.error();
      if (!row->empty()) rows_.emplace_back(&panel, std::move(*row));
    }
    if (rows_.empty()) return std::optional<Figure>{};
    return std::optional<Figure>(place());
  }

 private:
  struct ColumnBox {
    std::size_t column = 0;  // of the panel; boxes of one epsilon stand above each other
    std::string title;
    std::vector<Line> lines;
  };

  Result<std::vector<ColumnBox>> boxes_of(const results::PanelModel& panel) {
    std::vector<ColumnBox> boxes;
    for (std::size_t column = 0; column < panel.columns.size(); ++column) {
      ColumnBox box{column, results::arm_title(panel, panel.columns[column]), {}};
      for (const auto& row : panel.rows) {
        auto line = line_of(row.cells[column], styles_.of(row.id));
        if (!line) return line.error();
        if (!*line) continue;
        box.lines.push_back(std::move(**line));
        shown_.push_back(row.id);
      }
      if (!box.lines.empty()) boxes.push_back(std::move(box));
    }
    return boxes;
  }

  Result<std::optional<Line>> line_of(const CellModel& cell, const LineStyle& style) {
    std::vector<Curve> curves;
    for (const auto& seed : cell.seeds) {
      if (!seed.accuracy) continue;  // not concluded
      auto curve = curve_of_(seed.trial);
      if (!curve) return curve.error();
      if (*curve) curves.push_back(std::move(**curve));
    }
    Line line{.style = style,
              .points = merged(curves, CurveBand::range),
              .markers = false,
              .error_bars = false,
              .band = false};
    std::erase_if(line.points,
                  // a log axis has no place for it
                  [&](const Point& point) { return !(point.y > 0); });
    if (line.points.size() < 2) return std::optional<Line>{};
    for (auto& point : line.points) {
      point.low = std::max(*point.low, look_.floor);
      lowest_ = std::min(lowest_, std::max(look_.floor, look_.band ? *point.low : point.y));
      highest_ = std::max(highest_, look_.band ? *point.high : point.y);
      last_step_ = std::max(last_step_, point.x);
    }
    line.band = look_.band && curves.size() > 1;
    return std::optional<Line>(std::move(line));
  }

  // The widest title in pixels; it is wider than its box by a part of the gap at most.
  double widest_title() const {
    std::size_t widest = 0;
    for (const auto& [panel, boxes] : rows_) {
      for (const auto& box : boxes) widest = std::max(widest, results::display_width(box.title));
    }
    return kPixelsPerCharacter * static_cast<double>(widest);
  }

  Figure place() {
    Figure figure;
    figure.name = look_.name;
    figure.title = look_.title;
    figure.caption = look_.caption;
    std::size_t columns = 0;
    for (const auto& [panel, boxes] : rows_) columns = std::max(columns, boxes.back().column + 1);
    const double n = static_cast<double>(columns);
    const double fair = std::min(360.0, (kTotalWidth - (n - 1) * kBoxGap) / n);
    const double width = std::max(fair, widest_title() + kTitleGap - kBoxGap);
    figure.width = kLeftMargin + n * width + (n - 1) * kBoxGap + kRightMargin;
    figure.height = static_cast<double>(rows_.size()) * (kBoxHeight + kRowGap) + 2 * kTitleHeight +
                    kBottomMargin - kRowGap;
    double top = figure.height - 2 * kTitleHeight;
    for (const auto& [panel, boxes] : rows_) {
      figure.texts.push_back(
          {kLeftMargin, top + kTitleHeight + 8, panel->title, Text::Align::left, true, false});
      figure.texts.push_back({18, top - kBoxHeight / 2, look_.y_label, Text::Align::centre, false, true});
      for (std::size_t i = 0; i < boxes.size(); ++i) {
        const double left = kLeftMargin + static_cast<double>(boxes[i].column) * (width + kBoxGap);
        figure.boxes.push_back(box_at(left, left + width, top - kBoxHeight, top, boxes[i], i == 0));
        if (panel == rows_.back().first) {
          figure.texts.push_back({left + width / 2, top - kBoxHeight - kAxisLabelDrop, "step",
                                  Text::Align::centre, false, false});
        }
        figure.texts.push_back(
            {left + width / 2, top + 11, boxes[i].title, Text::Align::centre, false, false});
      }
      top -= kBoxHeight + kRowGap;
    }
    add_legend(figure, styles_.legend(shown_, false), figure.height - 2 * kTitleHeight);
    return figure;
  }

  Box box_at(double left, double right, double bottom, double top, const ColumnBox& content,
             bool first) const {
    Box box;
    box.left = left;
    box.right = right;
    box.bottom = bottom;
    box.top = top;
    box.lines = content.lines;
    box.x.from = 0;
    box.x.to = last_step_;
    box.x.ticks = linear_ticks(0, last_step_, 3);
    box.y.logarithmic = true;
    box.y.from = lowest_ / 1.1;
    box.y.to = (look_.ceiling > 0 ? std::min(highest_, look_.ceiling) : highest_) * 1.1;
    box.y.ticks = logarithmic_ticks(box.y.from, box.y.to);
    box.y.show_ticks = first;
    return box;
  }

  const TableModel& table_;
  Look look_;
  CurveOf curve_of_;
  RowStyles styles_;
  std::vector<std::pair<const results::PanelModel*, std::vector<ColumnBox>>> rows_;
  std::vector<std::string> shown_;
  double lowest_ = 1e300, highest_ = 0, last_step_ = 1;
};

}  // namespace

std::optional<std::string> step_size_scalar(const json::object& trial_config) {
  static const std::map<std::string, std::string> kOptimizers = {{"prodigy", "d"},     {"d-adapt-adam", "d"},
                                                                 {"d-adapt-sgd", "d"}, {"dog", "eta"},
                                                                 {"dowg", "eta"},      {"adadp", "lr_used"}};
  const auto controller = named_in(trial_config, "controller").name;
  if (controller == "hyfreedp" || controller == "hyfreedp-plus" || controller == "gen" ||
      controller == "free-slope") {
    return "eta";
  }
  const auto found = kOptimizers.find(named_in(trial_config, "optimizer").name);
  return found == kOptimizers.end() ? std::nullopt : std::optional<std::string>(found->second);
}

Result<std::optional<Figure>> step_size_figure(const results::Store& store, const TableModel& table) {
  Look look;
  look.name = "step_size";
  look.title = "Step size of the learning-rate-free methods";
  look.caption =
      "Step size in force over steps, logarithmic: η of HyFreeDP and its variants, d of D-Adaptation and "
      "Prodigy. Line: "
      "median over seeds; band: smallest to largest. Curves below 1e-9 are cut at the axis.";
  look.y_label = "step size η or d";
  look.band = true;
  look.floor = kSmallestStepSize;
  return CurveFigure(table, look,
                     [&](const std::string& id) -> Result<std::optional<Curve>> {
                       auto trial = store.trial(id);
                       if (!trial) return trial.error();
                       if (!*trial) return std::optional<Curve>{};
                       const auto scalar = step_size_scalar((**trial).config);
                       if (!scalar) return std::optional<Curve>{};
                       auto steps = store.steps(id);
                       if (!steps) return steps.error();
                       Curve curve;
                       for (const auto& step : *steps) {
                         if (const auto found = step.scalars.find(*scalar); found != step.scalars.end())
                           curve[step.step] = found->second;
                       }
                       return std::optional<Curve>(std::move(curve));
                     })
      .build();
}

Result<std::optional<Figure>> test_loss_figure(const results::Store& store, const TableModel& table) {
  Look look;
  look.name = "test_loss";
  look.title = "Test loss";
  look.caption =
      "Mean cross-entropy on the public test data over steps, logarithmic; median over seeds. Measured "
      "outside the "
      "mechanism.";
  look.y_label = "test loss (nats)";
  look.ceiling = kLargestLoss;
  return CurveFigure(table, look,
                     [&](const std::string& id) -> Result<std::optional<Curve>> {
                       auto metrics = store.metrics(id);
                       if (!metrics) return metrics.error();
                       Curve curve;
                       for (const auto& metric : *metrics) {
                         if (metric.split == "test" && metric.name == "loss")
                           curve[metric.step] = metric.value;
                       }
                       return std::optional<Curve>(std::move(curve));
                     })
      .build();
}

}  // namespace hyfreedp::plots
