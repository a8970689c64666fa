#include "harness/cli/epsilon/epsilon_figure.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "harness/base/text.h"
#include "plots/figures.h"
#include "plots/layout.h"

namespace hyfreedp::cli {
namespace {

using accounting::EpsilonAnswer;
using accounting::Events;
using plots::Line;
using plots::LineStyle;
using plots::Point;
using plots::Text;

constexpr double kBoxWidth = 300;
constexpr double kBoxHeight = 220;
constexpr double kBoxGap = 92;         // room for the next box's axis
constexpr double kVisibleBand = 1.01;  // of the bounds; a narrower band is hidden by its line
constexpr const char* kUpperBoundOfPld = "PLD, upper bound";
constexpr const char* kInk = "#222222";

const LineStyle kPld{"#0072B2", 1, 7};
const LineStyle kRdp{"#D55E00", 2, 7};
const LineStyle kGdp{"#009E73", 4, 7};
const LineStyle kTarget{"#777777", 3, 7};
const LineStyle kSpent{kInk, 1, 7};
const LineStyle kClaimed{kInk, 1, 6};

using Price = std::function<Result<EpsilonAnswer>(const Events&)>;

// The curve of one accountant; empty where it prices none of the points.
Line curve(const EpsilonBox& box, const Price& price, const LineStyle& style) {
  Line line{.style = style, .points = {}};
  for (const double x : box.xs) {
    const auto answer = price(box.events_at(x));
    if (!answer || !std::isfinite(answer->epsilon)) continue;
    if (box.logarithmic_epsilon && !(answer->epsilon > 0)) continue;
    Point point{x, answer->epsilon};
    if (answer->epsilon_lower > 0) {
      point.low = answer->epsilon_lower;
      point.high = answer->epsilon;
      line.band = line.band || answer->epsilon > kVisibleBand * answer->epsilon_lower;
    }
    line.points.push_back(point);
  }
  return line;
}

class Builder {
 public:
  explicit Builder(const EpsilonFigure& request) : request_(request) {}

  Result<plots::Figure> build() {
    figure_.name = "epsilon";
    figure_.title = "Epsilon: " + request_.title;
    figure_.caption = "Epsilon at delta " + short_number(request_.delta) + ": " + request_.title + ".";
    const double n = static_cast<double>(request_.boxes.size());
    figure_.width = plots::kLeftMargin + n * kBoxWidth + (n - 1) * kBoxGap + plots::kRightMargin;
    figure_.height = plots::kBottomMargin + kBoxHeight + 2.4 * plots::kTitleHeight;
    figure_.texts.push_back(
        {plots::kLeftMargin, figure_.height - 18, request_.title, Text::Align::left, true, false});
    double left = plots::kLeftMargin;
    for (const auto& box : request_.boxes) {
      if (auto ok = place(box, left); !ok) return ok.error();
      left += kBoxWidth + kBoxGap;
    }
    for (auto& entry : legend_) {
      if (has_band_ && entry.title == kUpperBoundOfPld) entry.title += " (band: down to its lower bound)";
    }
    if (request_.target) {
      legend_.push_back({fmt::format("target ε = {}", short_number(*request_.target)), kTarget});
    }
    for (auto& entry : marks_) legend_.push_back(std::move(entry));
    plots::add_legend(figure_, std::move(legend_), plots::kBottomMargin + kBoxHeight);
    return std::move(figure_);
  }

 private:
  std::vector<Line> curves(const EpsilonBox& box) {
    const auto& orders = request_.orders.empty() ? accounting::default_orders() : request_.orders;
    const double delta = request_.delta;
    std::vector<Line> lines;
    const auto add = [&](const char* title, const LineStyle& style, const Price& price) {
      auto line = curve(box, price, style);
      if (line.points.empty()) return;
      has_band_ = has_band_ || line.band;
      lines.push_back(std::move(line));
      const auto known = std::any_of(legend_.begin(), legend_.end(),
                                     [&](const plots::LegendEntry& entry) { return entry.title == title; });
      if (!known) legend_.push_back({title, style});
    };
    add(kUpperBoundOfPld, kPld, [&](const Events& events) { return accounting::epsilon_pld(events, delta); });
    add("RDP, upper bound", kRdp,
        [&](const Events& events) { return accounting::epsilon_rdp(events, delta, orders); });
    if (request_.gdp) {
      add("GDP (for q < 1 an approximation, not a bound)", kGdp,
          [&](const Events& events) { return accounting::epsilon_gdp(events, delta); });
    }
    return lines;
  }

  Result<void> place(const EpsilonBox& content, double left) {
    plots::Box box;
    box.left = left;
    box.right = left + kBoxWidth;
    box.bottom = plots::kBottomMargin;
    box.top = plots::kBottomMargin + kBoxHeight;
    box.lines = curves(content);
    if (box.lines.empty()) {
      return error("There is nothing to draw: epsilon is 0 or infinite wherever the plot would show it.");
    }
    const auto [first, last] = std::minmax_element(content.xs.begin(), content.xs.end());
    box.x.from = *first > *last / 5 ? *first : 0;
    box.x.to = *last;
    box.x.ticks = plots::linear_ticks(box.x.from, box.x.to, 5);
    if (*first == *last) {  // a single step
      box.x.from = 0;
      box.x.to = 2 * *last;
      box.x.ticks = {{*last, short_number(*last)}};
    }
    if (request_.target) {
      box.lines.push_back(
          {.style = kTarget, .points = {{box.x.from, *request_.target}, {box.x.to, *request_.target}}});
    }
    for (const auto& mark : content.marks) add_mark(mark, box);
    scale_epsilon(content.logarithmic_epsilon, box);
    add_texts(content, box);
    figure_.boxes.push_back(std::move(box));
    return {};
  }

  void add_mark(const MarkedPoint& mark, plots::Box& box) {
    if (!std::isfinite(mark.epsilon)) return;
    const auto& style = mark.claim ? kClaimed : kSpent;
    box.lines.push_back({.style = style, .points = {{mark.x, mark.epsilon}}, .markers = true});
    const auto known = std::any_of(marks_.begin(), marks_.end(),
                                   [&](const auto& entry) { return entry.title == mark.title; });
    if (!known) marks_.push_back({mark.title, style, true, false});
  }

  static void scale_epsilon(bool logarithmic, plots::Box& box) {
    double lowest = 1e300, highest = 0;
    for (const auto& line : box.lines) {
      for (const auto& point : line.points) {
        lowest = std::min(lowest, point.y);
        highest = std::max(highest, point.y);
      }
    }
    box.y.logarithmic = logarithmic && lowest > 0;
    if (box.y.logarithmic) {
      box.y.from = lowest / 1.15;
      box.y.to = highest * 1.15;
      box.y.ticks = plots::logarithmic_ticks(box.y.from, box.y.to);
    } else {
      box.y.from = 0;
      box.y.to = highest > 0 ? highest * 1.06 : 1;
      box.y.ticks = plots::linear_ticks(0, box.y.to, 6);
    }
  }

  void add_texts(const EpsilonBox& content, const plots::Box& box) {
    const double middle = (box.left + box.right) / 2;
    figure_.texts.push_back({middle, box.top + 12, content.title, Text::Align::centre, false, false});
    figure_.texts.push_back(
        {middle, box.bottom - plots::kAxisLabelDrop, content.x_label, Text::Align::centre, false, false});
    figure_.texts.push_back(
        {box.left - 52, (box.bottom + box.top) / 2,
         fmt::format("ε at δ = {}{}", short_number(request_.delta), box.y.logarithmic ? " (log scale)" : ""),
         Text::Align::centre, false, true});
  }

  const EpsilonFigure& request_;
  plots::Figure figure_;
  std::vector<plots::LegendEntry> legend_;
  bool has_band_ = false;
  std::vector<plots::LegendEntry> marks_;  // after the curves
};

}  // namespace

Result<plots::Figure> epsilon_figure(const EpsilonFigure& request) { return Builder(request).build(); }

Result<void> draw_epsilon(const EpsilonFigure& request, const std::string& path) {
  const auto figure = epsilon_figure(request);
  if (!figure) return figure.error();
  return plots::draw_file(*figure, path);
}

}  // namespace hyfreedp::cli
