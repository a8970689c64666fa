// Draws what a method costs beside another: bars lie, so that a row's whole name stands above its
// bar.
#include <algorithm>
#include <fmt/format.h>

#include "plots/colour_scale.h"
#include "plots/kinds.h"
#include "plots/layout.h"
#include "plots/sheet.h"
#include "results/table/statistics.h"

namespace hyfreedp::plots {
namespace {

constexpr double kBarPixels = 42;                           // of a bar with its name
constexpr double kHalf = 0.24, kNameAt = 0.38, kCap = 0.1;  // bars stand 1 apart
constexpr double kFill = 0.75;
constexpr const char* kInk = "#222222";
constexpr const char* kRule = "#8A8A8A";  // beneath names

using BySeed = std::map<std::int64_t, double>;

struct Bar {
  const Run* run = nullptr;  // first of the row
  BySeed seconds;
};

std::vector<Bar> bars_of(const RunCell& cell, bool per_step) {
  std::vector<Bar> bars;
  for (const auto* run : cell.runs) {
    auto known =
        std::find_if(bars.begin(), bars.end(), [&](const Bar& bar) { return bar.run->row == run->row; });
    if (known == bars.end()) known = bars.insert(bars.end(), Bar{run, {}});
    const auto steps = per_step ? setting(*run, "steps").value_or(1) : 1;
    known->seconds[run->seed] = run->seconds / steps;
  }
  return bars;
}

// The ratios to the other row's values, paired by seed if both have it; otherwise to its mean.
std::vector<double> ratios(const BySeed& own, const BySeed& other) {
  std::vector<double> paired, all;
  double sum = 0;
  for (const auto& [seed, seconds] : other) sum += seconds;
  for (const auto& [seed, seconds] : own) {
    all.push_back(seconds * static_cast<double>(other.size()) / sum);
    if (const auto found = other.find(seed); found != other.end()) paired.push_back(seconds / found->second);
  }
  return paired.empty() ? all : paired;
}

std::vector<double> values_of(const BySeed& own) {
  std::vector<double> values;
  for (const auto& [seed, seconds] : own) values.push_back(seconds);
  return values;
}

}  // namespace

Result<Outcome> bars_kind(const Source& source, const results::FigureRequest& request) {
  const auto options = read_options<results::BarsOptions>(request.options);
  const auto& reference = options.relative_to;
  const bool per_step = options.per == "step";
  auto widened = request;
  if (!reference.empty() && !widened.rows.empty()) widened.rows.push_back(reference);
  const auto list = runs_of(source, widened, Which::reported);
  if (!list) return list.error();
  const RowStyles styles(source.table);
  const auto unit = per_step ? "milliseconds a step" : "seconds a run";
  Sheet sheet;
  name_sheet(request, sheet);
  std::size_t most = 1;
  for (const auto& cell : cells_of(source, list->runs)) {
    const auto bars = bars_of(cell, per_step);
    const auto other =
        std::find_if(bars.begin(), bars.end(), [&](const Bar& bar) { return bar.run->row == reference; });
    if (!reference.empty() && other == bars.end()) continue;
    SheetPanel panel{.title = cell.title,
                     .x = {.label = reference.empty() ? unit
                                                      : fmt::format("{} over that of '{}'",
                                                                    per_step ? "time a step" : "time",
                                                                    other->run->row_title)},
                     .y = {.ticks = {{-1e9, ""}}},
                     .lines = {}};
    panel.x.from = 0;
    double at = 0;
    for (const auto& bar : bars) {
      const auto values = reference.empty() ? values_of(bar.seconds) : ratios(bar.seconds, other->seconds);
      const double scale = reference.empty() && per_step ? 1000 : 1;
      const double mean = scale * results::mean(values);
      const auto sd = results::sample_sd(values);
      const auto& style = styles.of(bar.run->row);
      --at;  // from the top down
      panel.patches.push_back({0, mean, at - kHalf, at + kHalf, tint(style.colour, kFill)});
      double end = mean;
      if (sd) {
        const double low = std::max(0.0, mean - scale * *sd), high = mean + scale * *sd;
        panel.lines.push_back(stroke({{low, at}, {high, at}}, kInk, 1.4));
        for (const double x : {low, high}) {
          panel.lines.push_back(stroke({{x, at - kCap}, {x, at + kCap}}, kInk, 1.4));
        }
        end = high;
      }
      panel.texts.push_back({0, at + kNameAt, " " + bar.run->row_title, {}, 11, Text::Align::left});
      panel.texts.push_back(
          {end,
           at,
           reference.empty() ? fmt::format("  {:.3g}", mean) : fmt::format("  {:.2f}", mean),
           {},
           11,
           Text::Align::left});
      panel.x.to = std::max(panel.x.to.value_or(0), 1.18 * end);
    }
    if (!reference.empty()) {
      panel.lines.push_back(stroke({{1, at - 0.5}, {1, -0.4}}, kRule, 1, 2));
    }
    panel.y.from = at - 0.4;
    panel.y.to = -0.4;
    most = std::max(most, bars.size());
    sheet.panels.push_back(std::move(panel));
  }
  if (sheet.panels.empty()) {
    return Outcome{.why =
                       list->nothing(reference.empty() ? "of these rows"
                                                       : fmt::format("of '{}' to compare with", reference))};
  }
  sheet.panel_width = 340;
  sheet.panel_height = kBarPixels * static_cast<double>(most) + 12;
  sheet.caption = fmt::format(
      "{} of the reported runs{}: mean over seeds, bars of one sample standard deviation. What a search's "
      "other runs took is "
      "not in it.",
      per_step ? "Wall-clock milliseconds a step" : "Wall-clock seconds",
      reference.empty() ? "" : " over those of another row, paired by seed (dashed: equal)");
  return Outcome{.figure = place(sheet)};
}

}  // namespace hyfreedp::plots
