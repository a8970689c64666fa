// The figure kind `signal`: what probes see beside their noise, against the number of trained
// parameters.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "plots/figures.h"
#include "plots/kinds.h"
#include "plots/layout.h"
#include "plots/sheet.h"
#include "results/table/statistics.h"

namespace hyfreedp::plots {
namespace {

constexpr double kNoiseAlone = 0.6745;  // the median of |z|, z standard normal
constexpr const char* kRule = "#888888";

struct Quantity {
  const char *scalar, *title;
};
constexpr Quantity kQuantities[] = {{"slope_to_noise", "Slope"}, {"curvature_to_noise", "Curvature"}};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return results::quantile(values, 0.5);
}

const spec::Panel* panel_of(const Source& source, const std::string& id) {
  const auto& panels = source.spec.panels;
  const auto found = std::ranges::find(panels, id, &spec::Panel::id);
  return found == panels.end() ? nullptr : &*found;
}

// The median of |value| over the run's probes; none without a probe. A run stores the scalars of
// its last probe at every step, so that each probe counts as often as it was in force.
Result<std::optional<double>> median_of(const std::vector<trial::StepRecord>& steps, const char* scalar) {
  std::vector<double> values;
  for (const auto& step : steps) {
    const auto found = step.scalars.find(scalar);
    if (found != step.scalars.end() && std::isfinite(found->second))
      values.push_back(std::abs(found->second));
  }
  if (values.empty()) return std::optional<double>();
  return std::optional(median(values));
}

// The values of a row by the panel's number of parameters: a value a seed.
using BySize = std::map<double, std::vector<double>>;

Line line_of(const BySize& sizes, const LineStyle& style) {
  Line line{.style = style, .points = {}, .markers = true, .error_bars = true};
  for (const auto& [size, values] : sizes) {
    const auto [least, most] = std::ranges::minmax(values);
    line.points.push_back({size, median(values), least, most});
  }
  return line;
}

}  // namespace

Result<Outcome> signal_kind(const Source& source, const results::FigureRequest& request) {
  auto list = runs_of(source, request, Which::reported);
  if (!list) return list.error();
  leave_out_unreleased(source, *list);
  const RowStyles styles(source.table);
  std::vector<std::string> rows;
  std::map<std::string, BySize> of_row[std::size(kQuantities)];
  double least = INFINITY, most = 0;
  for (const auto& run : list->runs) {
    const auto* panel = panel_of(source, run.panel);
    if (panel == nullptr || panel->dimension <= 0) continue;
    const auto steps = source.store.steps(run.trial);
    if (!steps) return steps.error();
    for (std::size_t i = 0; i < std::size(kQuantities); ++i) {
      const auto value = median_of(*steps, kQuantities[i].scalar);
      if (!value) return value.error();
      if (!*value || !(**value > 0)) continue;
      const auto size = static_cast<double>(panel->dimension);
      of_row[i][run.row][size].push_back(**value);
      least = std::min(least, size);
      most = std::max(most, size);
      if (std::ranges::find(rows, run.row) == rows.end()) rows.push_back(run.row);
    }
  }
  if (rows.empty()) return Outcome{.why = list->nothing("stores slope_to_noise or curvature_to_noise")};
  Sheet sheet;
  name_sheet(request, sheet);
  for (std::size_t i = 0; i < std::size(kQuantities); ++i) {
    SheetPanel panel{.title = kQuantities[i].title,
                     .x = {.label = "trained parameters d (log scale)", .logarithmic = true},
                     .y = {.label = "|value| over sd of its noise (log scale)", .logarithmic = true},
                     .lines = {stroke({{least, kNoiseAlone}, {most, kNoiseAlone}}, kRule, 1.2, 2)}};
    for (const auto& row : rows) {
      if (const auto found = of_row[i].find(row); found != of_row[i].end())
        panel.lines.push_back(line_of(found->second, styles.of(row)));
    }
    sheet.panels.push_back(std::move(panel));
  }
  sheet.caption =
      "What a probe released over the standard deviation of the noise in it: median over the steps of a run, "
      "then over seeds; bars from the smallest to the largest seed; dashed: noise alone." +
      list->refusal();
  for (auto& entry : styles.legend(rows, true)) sheet.legend.push_back(std::move(entry));
  return Outcome{.figure = place(sheet)};
}

}  // namespace hyfreedp::plots
