// Losses along the step and the parabola through them (Liu & Bu, figure 2): what the controller was
// told, from the scalars probe_x.K and probe_loss.K that the journal keeps of each probe.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <tuple>

#include "harness/base/text.h"
#include "optimizers/options.h"
#include "plots/kinds.h"
#include "plots/sheet.h"
#include "results/table/cell_text.h"

namespace hyfreedp::plots {
namespace {

constexpr int kShown = 4;
constexpr int kCurvePoints = 60;
const LineStyle kLosses{"#222222", 1, 7};
const LineStyle kParabola{"#0072B2", 1, 7};
const LineStyle kClipped{"#009E73", 1, 7};
const LineStyle kRaw{"#CC79A7", 1, 7};
const LineStyle kRate{"#D55E00", 2, 7};

struct Probe {
  std::int64_t step = 0;
  std::vector<Point> losses;  // by x
  // The batch's losses clipped, and as they are; empty unless the data are public.
  std::vector<Point> clipped, raw;
  double slope = 0, curvature = 0, eta = 0;
  bool fitted = false;          // the fit is known and finite
  bool through_centre = false;  // its parabola passes through the loss at x = 0
  // The parabola has no minimum ahead, or is too far from the losses: it gave no step size.
  bool rejected = false;
};

std::optional<double> scalar(const trial::StepRecord& step, const std::string& name) {
  const auto found = step.scalars.find(name);
  return found == step.scalars.end() ? std::nullopt : std::optional<double>(found->second);
}

// GeN alone may fit the intercept too.
bool fits_intercept(const Run& run) {
  const auto [name, options] = named_in(run.config, "controller");
  return name == "gen" &&
         read_options<optimizers::GenOptions>(options).intercept == optimizers::Intercept::free;
}

std::vector<Probe> probes_of(const Run& run, const std::vector<trial::StepRecord>& steps) {
  const double r2_min = setting(run, "r2_min").value_or(-INFINITY);
  std::vector<Probe> probes;
  for (const auto& step : steps) {
    Probe probe{.step = step.step, .losses = {}, .through_centre = !fits_intercept(run)};
    for (int k = 0;; ++k) {
      const auto x = scalar(step, fmt::format("probe_x.{}", k)),
                 y = scalar(step, fmt::format("probe_loss.{}", k));
      if (!x || !y) break;
      probe.losses.push_back({*x, *y});
      if (const auto loss = scalar(step, fmt::format("clipped_loss.{}", k)))
        probe.clipped.push_back({*x, *loss});
      if (const auto loss = scalar(step, fmt::format("raw_loss.{}", k))) probe.raw.push_back({*x, *loss});
    }
    if (probe.losses.size() < 2) continue;
    for (auto* points : {&probe.losses, &probe.clipped, &probe.raw})
      std::ranges::sort(*points, {}, &Point::x);
    const auto slope = scalar(step, "G"), curvature = scalar(step, "H");
    probe.fitted = slope && curvature && std::isfinite(*slope) && std::isfinite(*curvature);
    const bool close = probe.losses.size() <= 3 || scalar(step, "r2").value_or(1) > r2_min;
    probe.rejected = slope && curvature && !(probe.fitted && *curvature > 0 && *slope > 0 && close);
    probe.slope = slope.value_or(0);
    probe.curvature = curvature.value_or(0);
    probe.eta = scalar(step, "eta").value_or(0);
    probes.push_back(std::move(probe));
  }
  return probes;
}

// Returns the probes at or after the wanted steps; if none are wanted, probes that are evenly
// spread.
std::vector<Probe> chosen(const std::vector<Probe>& all, const std::vector<std::int64_t>& wanted) {
  std::vector<Probe> probes;
  if (wanted.empty()) {
    const auto count = std::min<std::size_t>(kShown, all.size());
    for (std::size_t i = 0; i < count; ++i)
      probes.push_back(all[i * (all.size() - 1) / std::max<std::size_t>(count - 1, 1)]);
    return probes;
  }
  for (const auto at : wanted) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Probe& probe) { return probe.step >= at; });
    if (found != all.end()) probes.push_back(*found);
  }
  return probes;
}

// The loss as the fit has it. Where it does not pass through the loss at 0, its intercept is the
// mean of the losses less the fit's own change there.
std::vector<Point> parabola(const Probe& probe, double from, double to) {
  const auto change = [&](double x) { return -probe.slope * x + probe.curvature * x * x / 2; };
  double intercept = 0;
  const auto centre =
      std::find_if(probe.losses.begin(), probe.losses.end(), [](const Point& p) { return p.x == 0; });
  if (centre != probe.losses.end() && (probe.through_centre || probe.losses.size() == 3)) {
    intercept = centre->y;
  } else {
    for (const auto& point : probe.losses)
      intercept += (point.y - change(point.x)) / double(probe.losses.size());
  }
  std::vector<Point> points;
  for (int i = 0; i <= kCurvePoints; ++i) {
    const double x = from + (to - from) * i / kCurvePoints;
    points.push_back({x, intercept + change(x)});
  }
  return points;
}

SheetPanel panel_of(const Run& run, const Probe& probe, bool several_rows) {
  SheetPanel panel{.title = fmt::format("{}{}, step {}{}", several_rows ? run.row_title + ", " : "", run.arm,
                                        probe.step, probe.rejected ? ", fit rejected" : ""),
                   .x = {.label = "step length x, losses at w − x·u"},
                   .y = {.label = "released loss (nats)"},
                   .lines = {}};
  const double from = probe.losses.front().x, to = probe.losses.back().x, room = 0.15 * (to - from);
  if (probe.fitted)
    panel.lines.push_back({.style = kParabola, .points = parabola(probe, from - room, to + room)});
  if (!probe.raw.empty()) panel.y.label = "loss (nats)";
  for (const auto& [style, points] : {std::pair(kRaw, &probe.raw), std::pair(kClipped, &probe.clipped)}) {
    if (!points->empty()) panel.lines.push_back({.style = style, .points = *points, .markers = true});
  }
  panel.lines.push_back(
      {.style = kLosses, .points = probe.losses, .markers = true, .line = false, .marker_size = 1});
  double low = INFINITY, high = -INFINITY;
  for (const auto& line : panel.lines) {
    for (const auto& point : line.points) low = std::min(low, point.y), high = std::max(high, point.y);
  }
  if (probe.eta >= from - room && probe.eta <= to + room) {
    panel.lines.push_back({.style = kRate, .points = {{probe.eta, low}, {probe.eta, high}}});
  }
  panel.x.ticks = {{from, short_number(from, 2)}, {0, "0"}, {to, short_number(to, 2)}};
  if (from >= 0) panel.x.ticks.erase(panel.x.ticks.begin());
  return panel;
}

}  // namespace

Result<Outcome> probe_fit_kind(const Source& source, const results::FigureRequest& request) {
  auto list = runs_of(source, request, Which::reported);
  if (!list) return list.error();
  leave_out_unreleased(source, *list);
  const auto [wanted, seed] = read_options<results::ProbeFitOptions>(request.options);
  Sheet sheet;
  name_sheet(request, sheet);
  sheet.panel_width = 250;
  sheet.panel_height = 190;
  std::set<std::tuple<std::string, std::string, std::optional<double>>> shown;
  std::vector<std::pair<const Run*, std::vector<Probe>>> rows;
  for (const auto& run : list->runs) {
    if (seed && *seed != run.seed) continue;
    if (shown.contains({run.panel, run.row, run.epsilon})) continue;
    const auto steps = source.store.steps(run.trial);
    if (!steps) return steps.error();
    auto probes = chosen(probes_of(run, *steps), wanted);
    if (probes.empty()) continue;
    shown.insert({run.panel, run.row, run.epsilon});
    rows.emplace_back(&run, std::move(probes));
  }
  if (rows.empty()) {
    return Outcome{.why = list->nothing(
                       "stores the losses of its probes (only controllers that probe have any; older runs "
                       "kept the fit alone)")};
  }
  for (const auto& [run, probes] : rows) {
    for (const auto& probe : probes) sheet.panels.push_back(panel_of(*run, probe, rows.size() > 1));
    sheet.columns = std::max(sheet.columns, probes.size());
  }
  sheet.caption =
      "Losses as released (clamped to the loss bound and noised) at step lengths x along the update, with "
      "the parabola of "
      "the slope and curvature that the controller went by (its fit; HyFreeDP+ averages them over probes); "
      "dashed: the step "
      "size in force after it. “Fit rejected”: the parabola has no minimum at a positive step length, or "
      "is too far from the losses, so the step size does not come of it." +
      list->refusal();
  sheet.legend = {{"released loss", kLosses, true, false, 1},
                  {"parabola of the controller", kParabola},
                  {"step size in force", kRate}};
  const auto any = [&](std::vector<Point> Probe::*points) {
    return std::ranges::any_of(rows, [&](const auto& row) {
      return std::ranges::any_of(row.second, [&](const Probe& probe) { return !(probe.*points).empty(); });
    });
  };
  if (any(&Probe::clipped)) sheet.legend.push_back({"clipped, without noise", kClipped, true});
  if (any(&Probe::raw)) sheet.legend.push_back({"neither clipped nor noised", kRaw, true});
  return Outcome{.figure = place(sheet)};
}

}  // namespace hyfreedp::plots
