// The test metric over two settings: a colour a cell, lighter is better, the best cell framed.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

#include "harness/base/text.h"
#include "plots/colour_scale.h"
#include "plots/kinds.h"
#include "plots/sheet.h"

namespace hyfreedp::plots {
namespace {

constexpr double kWidth = 300, kHeight = 260;
constexpr double kRoomOfValue = 32;   // pixels that a printed value takes across
constexpr double kTickCharacter = 7;  // pixels
constexpr double kLeastHeight = 16;
constexpr const char* kNoRun = "#EDEDED";
constexpr const char* kFrame = "#D55E00";

struct Grid {
  std::vector<double> xs, ys;
  // the better, where several candidates meet
  std::map<std::pair<std::size_t, std::size_t>, double> values;
  bool several = false;
};

bool is_better(double a, double b, bool higher) { return higher ? a > b : a < b; }

std::size_t index_of(const std::vector<double>& values, double value) {
  return static_cast<std::size_t>(std::lower_bound(values.begin(), values.end(), value) - values.begin());
}

Grid grid_of(const RunCell& cell, const std::string& x, const std::string& y, bool higher) {
  Grid grid;
  std::set<double> xs, ys;
  std::vector<std::tuple<double, double, double>> found;
  for (const auto& candidate : candidates_of(cell, By::group)) {
    const auto at_x = setting(*candidate.runs.front(), x), at_y = setting(*candidate.runs.front(), y);
    if (!at_x || !at_y) continue;
    xs.insert(*at_x);
    ys.insert(*at_y);
    found.emplace_back(*at_x, *at_y, candidate.value());
  }
  grid.xs.assign(xs.begin(), xs.end());
  grid.ys.assign(ys.begin(), ys.end());
  for (const auto& [at_x, at_y, value] : found) {
    const auto [place, is_new] =
        grid.values.try_emplace({index_of(grid.xs, at_x), index_of(grid.ys, at_y)}, value);
    if (is_new) continue;
    grid.several = true;
    if (is_better(value, place->second, higher)) place->second = value;
  }
  return grid;
}

std::string name_of(double value) { return fmt::format("{:.3g}", value); }

// A tick in the middle of each cell; of many the name of every so many.
SheetAxis axis_of(const std::string& name, const std::vector<double>& values, double pixels, bool across) {
  SheetAxis axis{.label = setting_label(name)};
  axis.from = 0;
  axis.to = static_cast<double>(values.size());
  std::size_t longest = 1;
  for (const double value : values) longest = std::max(longest, name_of(value).size());
  const double room = across ? kTickCharacter * static_cast<double>(longest + 1) : kLeastHeight;
  const auto fit = std::max<std::size_t>(1, static_cast<std::size_t>(pixels / room));
  const auto stride = (values.size() + fit - 1) / fit;
  for (std::size_t i = 0; i < values.size(); i += stride) {
    axis.ticks.push_back({static_cast<double>(i) + 0.5, name_of(values[i])});
  }
  return axis;
}

class Builder {
 public:
  Builder(const Source& source, const results::FigureRequest& request)
      : source_(source),
        request_(request),
        options_(read_options<results::HeatMapOptions>(request.options)),
        higher_(options_.shown.higher_is_better()),
        logarithmic_(options_.log_colour) {}

  Result<Outcome> build() {
    const auto list = runs_of(source_, request_, Which::all, options_.shown.metric);
    if (!list) return list.error();
    std::vector<std::pair<std::string, Grid>> grids;
    for (const auto& cell : cells_of(source_, list->runs)) {
      auto grid = grid_of(cell, options_.x, options_.y, higher_);
      if (!grid.values.empty()) grids.emplace_back(cell.title, std::move(grid));
    }
    if (grids.empty()) {
      return Outcome{.why = list->nothing(
                         fmt::format("has both '{}' and '{}' among its settings", options_.x, options_.y))};
    }
    bool several = false;
    for (const auto& [title, grid] : grids) {
      several = several || grid.several;
      for (const auto& [at, value] : grid.values)
        lowest_ = std::min(lowest_, value), highest_ = std::max(highest_, value);
    }
    logarithmic_ = logarithmic_ && lowest_ > 0;
    Sheet sheet;
    name_sheet(request_, sheet);
    sheet.panel_width = kWidth;
    sheet.panel_height = kHeight;
    sheet.caption =
        fmt::format("{} over {} and {}: mean over seeds{}; lighter is better, the best cell is framed{}.{}",
                    metric_sentence(options_.shown.metric), setting_label(options_.x),
                    setting_label(options_.y), several ? ", the best candidate where several meet" : "",
                    missing_ ? "; grey: no finished run" : "", list->refusal());
    for (const auto& [title, grid] : grids) sheet.panels.push_back(panel_of(title, grid));
    if (missing_ && sheet.caption.find("grey") == std::string::npos) {
      sheet.caption.insert(sheet.caption.find(" is framed") + 10, "; grey: no finished run");
    }
    return Outcome{.figure = place(sheet)};
  }

 private:
  double share_of(double value) const {
    if (highest_ <= lowest_) return 1;
    return logarithmic_ ? std::log(value / lowest_) / std::log(highest_ / lowest_)
                        : (value - lowest_) / (highest_ - lowest_);
  }

  SheetPanel panel_of(const std::string& title, const Grid& grid) {
    SheetPanel panel{.title = title,
                     .x = axis_of(options_.x, grid.xs, kWidth, true),
                     .y = axis_of(options_.y, grid.ys, kHeight, false),
                     .lines = {}};
    const bool values = kWidth / *panel.x.to >= kRoomOfValue && kHeight / *panel.y.to >= kLeastHeight;
    auto best = grid.values.begin();
    for (auto at = grid.values.begin(); at != grid.values.end(); ++at) {
      if (is_better(at->second, best->second, higher_)) best = at;
    }
    for (std::size_t x = 0; x < grid.xs.size(); ++x) {
      for (std::size_t y = 0; y < grid.ys.size(); ++y) {
        const auto left = static_cast<double>(x), bottom = static_cast<double>(y);
        const auto found = grid.values.find({x, y});
        missing_ = missing_ || found == grid.values.end();
        const double share = found == grid.values.end() ? 0 : share_of(found->second);
        const auto colour = found == grid.values.end() ? kNoRun : scale_colour(higher_ ? share : 1 - share);
        panel.patches.push_back({left, left + 1, bottom, bottom + 1, colour});
        if (!values || found == grid.values.end()) continue;
        panel.texts.push_back({left + 0.5, bottom + 0.5,
                               fmt::format("{:.{}f}", found->second, higher_ ? 1 : 2),
                               is_dark(colour) ? "#FFFFFF" : "#111111", 10.5});
      }
    }
    const auto left = static_cast<double>(best->first.first),
               bottom = static_cast<double>(best->first.second);
    panel.lines.push_back(stroke(
        {{left, bottom}, {left + 1, bottom}, {left + 1, bottom + 1}, {left, bottom + 1}, {left, bottom}},
        kFrame, 3));
    panel.bar =
        ColourBar{.label = metric_label(options_.shown.metric) + (logarithmic_ ? ", log colours" : ""),
                  .from = lowest_,
                  .to = highest_ > lowest_ ? highest_ : lowest_ * 1.01 + 0.01,
                  .logarithmic = logarithmic_,
                  .colours = scale_colours(!higher_)};
    return panel;
  }

  const Source& source_;
  const results::FigureRequest& request_;
  results::HeatMapOptions options_;
  bool higher_, logarithmic_, missing_ = false;
  double lowest_ = INFINITY, highest_ = -INFINITY;
};

}  // namespace

Result<Outcome> heat_map_kind(const Source& source, const results::FigureRequest& request) {
  return Builder(source, request).build();
}

}  // namespace hyfreedp::plots
