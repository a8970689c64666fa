// A point a candidate, and the front of those that no other beats in both quantities
// (Panda et al.).
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "plots/kinds.h"
#include "plots/sheet.h"

namespace hyfreedp::plots {
namespace {

constexpr double kDecade = 10;
const LineStyle kFront{"#222222", 2, 0};

// Epsilons are compared in one box.
std::vector<RunCell> boxes_of(const Source& source, const std::vector<Run>& runs, bool by_epsilon) {
  if (!by_epsilon) return cells_of(source, runs);
  std::vector<RunCell> boxes;
  for (const auto& run : runs) {
    const auto known = std::find_if(boxes.begin(), boxes.end(),
                                    [&](const auto& box) { return box.runs[0]->panel == run.panel; });
    if (known == boxes.end())
      boxes.push_back({run.panel_title, {&run}});
    else
      known->runs.push_back(&run);
  }
  return boxes;
}

// Returns the points from the better x to the worse, each better in y than all before.
std::vector<Point> front_of(std::vector<Point> points, bool lower_x, bool higher_y) {
  std::sort(points.begin(), points.end(), [&](const Point& a, const Point& b) {
    if (a.x != b.x) return lower_x ? a.x < b.x : a.x > b.x;
    return higher_y ? a.y > b.y : a.y < b.y;
  });
  std::vector<Point> front;
  for (const auto& point : points) {
    if (front.empty() || (higher_y ? point.y > front.back().y : point.y < front.back().y))
      front.push_back(point);
  }
  return front;
}

bool spans_decades(const std::vector<SheetPanel>& panels) {
  double least = INFINITY, most = 0;
  for (const auto& panel : panels) {
    for (const auto& line : panel.lines) {
      for (const auto& point : line.points) least = std::min(least, point.x), most = std::max(most, point.x);
    }
  }
  return least > 0 && most > kDecade * least;
}

}  // namespace

Result<Outcome> pareto_kind(const Source& source, const results::FigureRequest& request) {
  const auto [x, y, front, scale] = read_options<results::ParetoOptions>(request.options);
  const auto& [metric, by] = y;
  const auto list = runs_of(source, request, Which::all, metric);
  if (!list) return list.error();
  const auto families = families_of(list->runs, by, source.table);
  Sheet sheet;
  name_sheet(request, sheet);
  std::vector<bool> shown(families.size());
  for (const auto& box : boxes_of(source, list->runs, x == "epsilon")) {
    SheetPanel panel{.title = box.title,
                     .x = {.label = setting_label(x)},
                     .y = {.label = metric_label(metric)},
                     .lines = {}};
    std::vector<Point> all;
    const auto candidates = candidates_of(box, by);
    for (std::size_t f = 0; f < families.size(); ++f) {
      Line line{.style = families[f].style, .points = {}, .markers = true, .line = false};
      for (const auto& candidate : candidates) {
        if (candidate.family != families[f].id) continue;
        if (const auto at = setting(*candidate.runs.front(), x))
          line.points.push_back({*at, candidate.value()});
      }
      if (line.points.empty()) continue;
      shown[f] = true;
      all.insert(all.end(), line.points.begin(), line.points.end());
      panel.lines.push_back(std::move(line));
    }
    if (all.empty()) continue;
    if (front != "none") {
      panel.lines.insert(panel.lines.begin(),
                         {.style = kFront, .points = front_of(all, front == "lower", y.higher_is_better())});
    }
    sheet.panels.push_back(std::move(panel));
  }
  if (sheet.panels.empty())
    return Outcome{.why = list->nothing(fmt::format("has '{}' among its settings", x))};
  const bool logarithmic = scale == "logarithmic" || (scale == "auto" && spans_decades(sheet.panels));
  for (auto& panel : sheet.panels) {
    panel.x.logarithmic = logarithmic;
    if (logarithmic) panel.x.label += " (log scale)";
  }
  sheet.caption = fmt::format(
      "{} against {}, a point a candidate (mean over its seeds){}.{}", metric_sentence(metric),
      setting_label(x),
      front == "none" ? ""
                      : fmt::format("; dashed: those that no other beats in both, {} {} being better", front,
                                    setting_label(x)),
      list->refusal());
  for (std::size_t f = 0; f < families.size(); ++f) {
    if (shown[f]) sheet.legend.push_back({families[f].title, families[f].style, true, false});
  }
  if (front != "none") sheet.legend.push_back({"Pareto front", kFront, false, true});
  return Outcome{.figure = place(sheet)};
}

}  // namespace hyfreedp::plots
