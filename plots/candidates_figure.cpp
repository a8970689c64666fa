// Median and best of the candidates over steps (Mohapatra et al., figures 4 and 5).
#include <algorithm>
#include <fmt/format.h>
#include <random>

#include "plots/kinds.h"
#include "plots/sheet.h"
#include "results/table/statistics.h"

namespace hyfreedp::plots {
namespace {

constexpr int kResamples = 1000;
constexpr double kLow = 0.025, kHigh = 0.975;

// Percentile bootstrap of the median over candidates (Efron 1979); the same draws every time. Index
// arithmetic of our own, since the standard's distributions differ between libraries.
results::Interval median_interval(const std::vector<double>& values) {
  std::mt19937_64 random(values.size());
  std::vector<double> medians, sample(values.size());
  for (int i = 0; i < kResamples; ++i) {
    for (auto& value : sample) value = values[random() % values.size()];
    medians.push_back(results::quantile((std::sort(sample.begin(), sample.end()), sample), 0.5));
  }
  std::sort(medians.begin(), medians.end());
  return {results::quantile(medians, kLow), results::quantile(medians, kHigh)};
}

struct Curves {
  Line median, best;
  std::size_t candidates = 0;
};

Curves curves_of(const std::vector<const Candidate*>& candidates, const LineStyle& style, bool higher,
                 const std::string& band) {
  std::vector<std::map<std::int64_t, double>> all;
  for (const auto* candidate : candidates) all.push_back(candidate->curve());
  Curves curves{.median = {.style = style, .points = {}}, .best = {.style = style, .points = {}}};
  curves.best.style.dash = 2;
  curves.candidates = candidates.size();
  for (const auto& [step, first] : all.front()) {
    std::vector<double> values;
    for (const auto& curve : all) {
      if (const auto found = curve.find(step); found != curve.end()) values.push_back(found->second);
    }
    if (values.size() != all.size()) continue;
    std::sort(values.begin(), values.end());
    const auto x = static_cast<double>(step);
    Point point{x, results::quantile(values, 0.5)};
    if (band == "range") point.low = values.front(), point.high = values.back();
    if (band == "bootstrap") {
      const auto interval = median_interval(values);
      point.low = interval.low, point.high = interval.high;
    }
    curves.median.points.push_back(point);
    curves.best.points.push_back({x, higher ? values.back() : values.front()});
  }
  curves.median.band = band != "none" && candidates.size() > 1;
  return curves;
}

}  // namespace

Result<Outcome> candidates_kind(const Source& source, const results::FigureRequest& request) {
  const auto [shown, band] = read_options<results::CandidatesOptions>(request.options);
  const auto& [metric, by] = shown;
  const auto list = runs_of(source, request, Which::all, metric);
  if (!list) return list.error();
  if (list->runs.empty()) return Outcome{.why = list->nothing("of these rows has this metric")};
  auto families = families_of(list->runs, by, source.table);
  for (auto& family : families) family.style.dash = 1;  // dashes are for the best
  Sheet sheet;
  name_sheet(request, sheet);
  sheet.caption = fmt::format(
      "{} over steps: solid the median over the candidates (each the mean over its seeds), dashed the best "
      "of them at each "
      "step{}.{}",
      metric_sentence(metric),
      band == "bootstrap" ? "; band: 95 % percentile bootstrap interval of the median over candidates"
      : band == "range"   ? "; band: all candidates"
                          : "",
      list->refusal());
  std::map<std::string, std::size_t> counts;
  bool any = false;
  for (const auto& cell : cells_of(source, list->runs)) {
    SheetPanel panel{
        .title = cell.title, .x = {.label = "step"}, .y = {.label = metric_label(metric)}, .lines = {}};
    const auto candidates = candidates_of(cell, by);
    for (const auto& family : families) {
      std::vector<const Candidate*> own;
      for (const auto& candidate : candidates) {
        if (candidate.family == family.id) own.push_back(&candidate);
      }
      if (own.empty()) continue;
      auto curves = curves_of(own, family.style, shown.higher_is_better(), band);
      if (curves.median.points.size() < 2) continue;
      any = true;
      counts[family.id] = std::max(counts[family.id], curves.candidates);
      panel.lines.push_back(std::move(curves.median));
      panel.lines.push_back(std::move(curves.best));
    }
    mark_sparsely(panel.lines);
    if (!panel.lines.empty()) sheet.panels.push_back(std::move(panel));
  }
  if (!any)
    return Outcome{.why = "the metric was evaluated at the end of each run alone (train.evaluate_every)"};
  for (const auto& family : families) {
    if (!counts.contains(family.id)) continue;
    auto best = family.style;
    best.dash = 2;
    sheet.legend.push_back({family.title + ", median", family.style, true});
    sheet.legend.push_back({fmt::format("{}, best of {}", family.title, counts[family.id]), best, true});
  }
  return Outcome{.figure = place(sheet)};
}

}  // namespace hyfreedp::plots
