// Candidates as box plots (Mohapatra et al., figure 3).
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "plots/colour_scale.h"
#include "plots/kinds.h"
#include "plots/sheet.h"
#include "results/table/statistics.h"

namespace hyfreedp::plots {
namespace {

constexpr double kHalf = 0.3;     // of a box's width; boxes stand 1 apart
constexpr double kSpread = 0.2;   // of the points around the box's middle
constexpr double kWhisker = 1.5;  // interquartile ranges
constexpr double kFill = 0.22;
constexpr const char* kInk = "#222222";
constexpr const char* kGold = "#F0C000";

const LineStyle kPlain{"#8A8A8A", 1, 6};
const LineStyle kMarked{kInk, 1, 7};
const LineStyle kStarEdge{kInk, 1, 13};
const LineStyle kStar{kGold, 1, 13};
constexpr double kStarSize = 1.3, kStarEdgeSize = 1.8;

using Settings = std::vector<std::pair<std::string, double>>;

void add_box(SheetPanel& panel, double at, std::vector<double> values, const std::string& colour) {
  const auto [least, low, middle, high, most] = results::box_plot(std::move(values), kWhisker);
  panel.patches.push_back({at - kHalf, at + kHalf, low, high, tint(colour, kFill)});
  panel.lines.push_back(stroke(
      {{at - kHalf, low}, {at + kHalf, low}, {at + kHalf, high}, {at - kHalf, high}, {at - kHalf, low}},
      colour, 1.2));
  for (const auto& [end, box] : {std::pair{least, low}, std::pair{most, high}}) {
    panel.lines.push_back(stroke({{at, box}, {at, end}}, colour, 1.2));
    panel.lines.push_back(stroke({{at - kHalf / 3, end}, {at + kHalf / 3, end}}, colour, 1.2));
  }
  panel.lines.push_back(stroke({{at - kHalf, middle}, {at + kHalf, middle}}, colour, 2.6));
}

class Builder {
 public:
  Builder(const Source& source, const results::FigureRequest& request)
      : source_(source), request_(request), options_(read_options<results::BoxOptions>(request.options)) {}

  Result<Outcome> build() {
    for (auto& [name, text, settings] : {std::tuple{"marked", &options_.marked, &marked_},
                                         std::tuple{"starred", &options_.starred, &starred_}}) {
      auto parsed = parse_settings(*text);
      if (!parsed) return in_context(fmt::format("figure '{}', '{}'", request_.name, name), parsed.error());
      *settings = std::move(*parsed);
    }
    const auto list = runs_of(source_, request_, Which::all, options_.shown.metric);
    if (!list) return list.error();
    if (list->runs.empty()) return Outcome{.why = list->nothing("of these rows has this metric")};
    families_ = families_of(list->runs, options_.shown.by, source_.table);
    Sheet sheet;
    name_sheet(request_, sheet);
    sheet.caption = fmt::format(
        "{} of every candidate at its last evaluation, mean over seeds: quartiles, whiskers to the last "
        "candidate within "
        "1.5 interquartile ranges, every candidate as a point (its place across says nothing).{}",
        metric_sentence(options_.shown.metric), list->refusal());
    for (const auto& cell : cells_of(source_, list->runs)) sheet.panels.push_back(panel_of(cell));
    for (const auto& [name, settings, is_there] : {std::tuple{"marked", &options_.marked, has_marked_},
                                                   std::tuple{"starred", &options_.starred, has_starred_}}) {
      if (!settings->empty() && !is_there)
        sheet.caption += fmt::format(" No candidate is '{}': none is {}.", *settings, name);
    }
    sheet.legend = legend();
    return Outcome{.figure = place(sheet)};
  }

 private:
  SheetPanel panel_of(const RunCell& cell) {
    SheetPanel panel{
        .title = cell.title, .x = {}, .y = {.label = metric_label(options_.shown.metric)}, .lines = {}};
    const auto candidates = candidates_of(cell, options_.shown.by);
    Line plain{.style = kPlain, .points = {}, .markers = true, .line = false, .marker_size = 0.55};
    Line marked{.style = kMarked, .points = {}, .markers = true, .line = false, .marker_size = 0.7};
    Line starred{.style = kStar, .points = {}, .markers = true, .line = false, .marker_size = kStarSize};
    double at = 0;
    for (const auto& family : families_) {
      std::vector<double> values;
      for (const auto& candidate : candidates) {
        if (candidate.family != family.id) continue;
        const bool star = !starred_.empty() && has_settings(*candidate.runs.front(), starred_);
        const bool mark = !star && !marked_.empty() && has_settings(*candidate.runs.front(), marked_);
        // A golden-ratio sequence spreads neighbours apart, and the same ones the same way each
        // time.
        const double turn = std::fmod(0.618034 * static_cast<double>(values.size()), 1.0) - 0.5;
        auto& line = star ? starred : mark ? marked : plain;
        line.points.push_back({at + (star ? 0 : 2 * kSpread * turn), candidate.value()});
        values.push_back(candidate.value());
      }
      if (values.empty()) continue;
      add_box(panel, at, values, family.style.colour);
      panel.x.ticks.push_back({at, family.title});
      ++at;
    }
    panel.x.from = -0.6;
    panel.x.to = at - 0.4;
    panel.names = true;
    auto edge = starred;
    edge.style = kStarEdge;
    edge.marker_size = kStarEdgeSize;
    has_plain_ = has_plain_ || !plain.points.empty();
    has_marked_ = has_marked_ || !marked.points.empty();
    has_starred_ = has_starred_ || !starred.points.empty();
    for (auto* line : {&plain, &marked, &edge, &starred}) {
      if (!line->points.empty()) panel.lines.push_back(std::move(*line));
    }
    return panel;
  }

  std::vector<LegendEntry> legend() const {
    std::vector<LegendEntry> entries;
    if (has_plain_)
      entries.push_back({marked_.empty() && starred_.empty() ? "candidates" : "other candidates", kPlain,
                         true, false, 0.55});
    if (has_marked_) entries.push_back({options_.marked, kMarked, true, false, 0.7});
    if (has_starred_) entries.push_back({options_.starred, kStar, true, false, kStarSize});
    return entries;
  }

  const Source& source_;
  const results::FigureRequest& request_;
  results::BoxOptions options_;
  Settings marked_, starred_;
  std::vector<Family> families_;
  bool has_plain_ = false, has_marked_ = false, has_starred_ = false;
};

}  // namespace

Result<Outcome> box_kind(const Source& source, const results::FigureRequest& request) {
  return Builder(source, request).build();
}

}  // namespace hyfreedp::plots
