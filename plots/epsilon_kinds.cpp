// The figure kinds `epsilon-steps` and `tuning-cost`: what executed events cost, priced anew.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "harness/accounting/accountant.h"
#include "harness/base/text.h"
#include "plots/curves_figure.h"
#include "plots/kinds.h"
#include "plots/layout.h"
#include "plots/sheet.h"

namespace hyfreedp::plots {
namespace {

using accounting::Batch;
using accounting::Event;
using accounting::Events;

constexpr int kTuningPoints = 12;

// Returns the events that the first `share` of a run has executed. A release that happens once has
// happened.
std::vector<Event> first_of(std::vector<Event> events, double share) {
  for (auto& event : events) {
    if (auto* batch = std::get_if<Batch>(&event.what)) {
      batch->count = std::max<std::int64_t>(
          1, std::llround(std::ceil(share * static_cast<double>(batch->count) - 1e-9)));
    }
  }
  return events;
}

// Rows often share their noise: each is priced once.
class Prices {
 public:
  Result<double> of(const Events& events, double delta) {
    const auto key = canonical_json(json::array{accounting::events_to_json(events), number(delta)});
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    const auto price = accounting::report_epsilon(events, delta);
    if (!price) return price.error();
    known_[key] = price->epsilon;
    return price->epsilon;
  }

 private:
  std::map<std::string, double> known_;
};

// Returns the first seed's run of each row of a cell.
std::vector<const Run*> first_runs(const RunCell& cell) {
  std::vector<const Run*> runs;
  for (const auto* run : cell.runs) {
    if (run->events.empty()) continue;
    if (std::none_of(runs.begin(), runs.end(), [&](const Run* known) { return known->row == run->row; }))
      runs.push_back(run);
  }
  return runs;
}

}  // namespace

Result<Outcome> epsilon_steps_kind(const Source& source, const results::FigureRequest& request) {
  const auto list = runs_of(source, request, Which::reported);
  if (!list) return list.error();
  const auto points = read_options<results::EpsilonStepsOptions>(request.options).points;
  const RowStyles styles(source.table);
  Prices prices;
  Sheet sheet;
  name_sheet(request, sheet);
  std::vector<std::string> shown;
  for (const auto& cell : cells_of(source, list->runs)) {
    SheetPanel panel{
        .title = cell.title, .x = {.label = "step", .from = 0}, .y = {.label = "ε", .from = 0}, .lines = {}};
    for (const auto* run : first_runs(cell)) {
      const auto steps = setting(*run, "steps");
      if (!steps) continue;
      Line line{.style = styles.of(run->row), .points = {}};
      for (std::int64_t i = 1; i <= points; ++i) {
        const double share = static_cast<double>(i) / static_cast<double>(points);
        const auto price = prices.of({.events = first_of(run->events, share)}, run->delta);
        if (price && std::isfinite(*price)) line.points.push_back({std::ceil(share * *steps - 1e-9), *price});
      }
      if (line.points.empty()) continue;
      panel.y.label = fmt::format("ε at δ = {}", short_number(run->delta));
      panel.lines.push_back(std::move(line));
      shown.push_back(run->row);
    }
    mark_sparsely(panel.lines);
    if (!panel.lines.empty()) sheet.panels.push_back(std::move(panel));
  }
  if (sheet.panels.empty())
    return Outcome{.why = list->nothing("of these rows is private and can be priced")};
  sheet.caption =
      "What the reported run of the first seed had cost after each step, by its executed events (PLD or RDP, "
      "the smaller upper "
      "bound), tuning apart.";
  sheet.legend = styles.legend(shown, true);
  return Outcome{.figure = place(sheet)};
}

Result<Outcome> tuning_cost_kind(const Source& source, const results::FigureRequest& request) {
  const auto list = runs_of(source, request, Which::reported);
  if (!list) return list.error();
  const auto most = static_cast<double>(read_options<results::TuningCostOptions>(request.options).most);
  results::CurveFigure figure{.name = {}, .title = {}, .caption = {}, .panels = {}};
  figure.name = request.name;
  figure.title = title_of(request);
  figure.caption =
      "What it costs to try so many candidates, each at the noise of the reported run: all of them composed "
      "(PLD or RDP, the "
      "smaller upper bound), or a private selection of a random, geometric number with that mean (Papernot & "
      "Steinke 2022; "
      "RDP). At 1, the run itself.";
  Prices prices;
  for (const auto& cell : cells_of(source, list->runs)) {
    int colour = 0;
    results::CurvePanel panel{.title = cell.title,
                              .x_label = "candidates (log scale)",
                              .y_label = "ε",
                              .x_logarithmic = true,
                              .curves = {}};
    for (const auto* run : first_runs(cell)) {
      panel.y_label = fmt::format("ε at δ = {}", short_number(run->delta));
      results::Curve sum{.title = run->row_title + ": composed", .colour = colour, .points = {}};
      results::Curve selection{
          .title = run->row_title + ": private selection", .colour = colour, .dashed = true, .points = {}};
      double last = 0;
      for (int i = 0; i < kTuningPoints; ++i) {
        const double count = std::round(std::pow(most, i / double(kTuningPoints - 1)));
        if (count <= last) continue;
        last = count;
        const Event repeated{.what = accounting::Repeat{run->events, static_cast<std::int64_t>(count)}};
        if (const auto price = prices.of({.events = {repeated}}, run->delta))
          sum.points.push_back({count, *price});
        const Event selected{.what = accounting::Selection{.eta = 1, .mean = count, .base = run->events}};
        if (const auto price = prices.of({.events = {selected}}, run->delta))
          selection.points.push_back({count, *price});
      }
      for (auto* curve : {&sum, &selection}) {
        if (!curve->points.empty()) panel.curves.push_back(std::move(*curve));
      }
      ++colour;
    }
    if (!panel.curves.empty()) figure.panels.push_back(std::move(panel));
  }
  if (figure.panels.empty())
    return Outcome{.why = list->nothing("of these rows is private and can be priced")};
  Sheet look;
  name_sheet(request, look);
  return Outcome{.figure = curves_figure(figure, look)};
}

}  // namespace hyfreedp::plots
