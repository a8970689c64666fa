// The figure kind `curves`: stored scalars and test metrics of the reported runs over steps.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <sstream>

#include "harness/base/text.h"
#include "plots/figures.h"
#include "plots/kinds.h"
#include "plots/layout.h"
#include "plots/sheet.h"
#include "results/table/cell_text.h"
#include "results/table/released_scalars.h"
#include "results/table/statistics.h"

namespace hyfreedp::plots {
namespace {

constexpr const char* kTraining = "training ";  // of the training split, where it is public

const std::map<std::string, std::string>& labels() {
  static const std::map<std::string, std::string> kLabels = {
      {kStepSize, "step size η or d"},
      {"eta", "step size η"},
      {"R_l", "loss bound R_l (nats)"},
      {"d", "distance estimate d"},
      {"H", "curvature H"},
      {"G", "slope G"},
      {"test loss", "test loss (nats)"},
      {"test accuracy", "test accuracy (%)"},
      {"test macro-accuracy", "test macro accuracy (%)"},
      {"test auc", "test AUC (%)"},
      {"training loss", "training loss (nats)"},
      {"training accuracy", "training accuracy (%)"},
      {"distance", "distance from the initial weights"},
      {"private_loss", "released loss (nats)"},
      {"clip_threshold", "clipping threshold C"}};
  return kLabels;
}

std::string label_of(const std::string& quantity) {
  const auto found = labels().find(quantity);
  return found == labels().end() ? quantity : found->second;
}

// True for quantities that are raw values in a run without noise.
bool shows_raw_values(const std::string& quantity) {
  return !quantity.starts_with("test ") && !quantity.starts_with(kTraining) && quantity != kStepSize &&
         !results::is_step_size(quantity);
}

Result<Curve> curve_of(const Source& source, const Run& run, const std::string& quantity) {
  Curve curve;
  const bool is_test = quantity.starts_with("test ");
  if (is_test || quantity.starts_with(kTraining)) {
    const auto metrics = source.store.metrics(run.trial);
    if (!metrics) return metrics.error();
    const auto name = quantity.substr(quantity.find(' ') + 1);
    const std::string split = is_test ? "test" : trial::kTrainSplit;
    for (const auto& metric : *metrics) {
      if (metric.split == split && metric.name == name)
        curve[metric.step] = (metric.is_fraction() ? 100 : 1) * metric.value;
    }
    return curve;
  }
  auto scalar = quantity;
  if (quantity == kStepSize) {
    const auto own = step_size_scalar(run.config);
    if (!own) return curve;
    scalar = *own;
  }
  const auto steps = source.store.steps(run.trial);
  if (!steps) return steps.error();
  for (const auto& step : *steps) {
    if (const auto found = step.scalars.find(scalar); found != step.scalars.end())
      curve[step.step] = found->second;
  }
  return curve;
}

bool all_positive(const SheetPanel& panel) {
  return std::all_of(panel.lines.begin(), panel.lines.end(), [](const Line& line) {
    return std::all_of(line.points.begin(), line.points.end(),
                       [](const Point& point) { return point.y > 0 && point.low.value_or(1) > 0; });
  });
}

class Builder {
 public:
  Builder(const Source& source, const results::FigureRequest& request)
      : source_(source),
        request_(request),
        options_(read_options<results::CurvesOptions>(request.options)),
        quantities_(quantities_of(options_.quantities)),
        styles_(source.table) {}

  Result<Outcome> build() {
    auto list = runs_of(source_, request_, Which::reported);
    if (!list) return list.error();
    // One quantity that is not released leaves a run out of all, so that the boxes of a row show
    // the same runs.
    if (std::any_of(quantities_.begin(), quantities_.end(), shows_raw_values)) {
      leave_out_unreleased(source_, *list);
    }
    Sheet sheet;
    name_sheet(request_, sheet);
    sheet.panel_height = 200;
    auto cells = cells_of(source_, list->runs);
    if (cells.size() == 1) {
      cells[0].title += ", " + cells[0].runs[0]->arm;
    }
    for (const auto& cell : cells) {
      std::vector<SheetPanel> row;
      bool any = false;
      for (const auto& quantity : quantities_) {
        auto panel = panel_of(cell, quantity);
        if (!panel) return panel.error();
        any = any || !panel->lines.empty();
        row.push_back(std::move(*panel));
      }
      if (!any) continue;
      for (auto& panel : row) sheet.panels.push_back(std::move(panel));
    }
    if (sheet.panels.empty()) {
      return Outcome{
          .why = list->nothing(fmt::format("stores {} at two steps or more", join(quantities_, ", ")))};
    }
    std::string absent;
    for (std::size_t i = 0; i < quantities_.size(); ++i) {
      bool is_drawn = false;
      for (std::size_t at = i; at < sheet.panels.size(); at += quantities_.size())
        is_drawn = is_drawn || !sheet.panels[at].lines.empty();
      if (!is_drawn) absent += fmt::format(" No run stores '{}' at two steps or more.", quantities_[i]);
    }
    sheet.columns = quantities_.size() > 1 ? quantities_.size() : 0;
    if (sheet.columns > 2) sheet.panel_width = 230;
    bool several = false;
    for (auto& panel : sheet.panels) {
      panel.x.from = 0;
      panel.x.to = last_step_;
      several = several || panel.lines.size() > 1;
    }
    sheet.caption = fmt::format("{} over steps: median over seeds{}.", join(quantities_, ", "),
                                options_.band == CurveBand::range       ? "; band: smallest to largest"
                                : options_.band == CurveBand::quartiles ? "; band: the middle half"
                                                                        : "") +
                    list->refusal() + absent;
    for (auto& entry : styles_.legend(shown_, several)) sheet.legend.push_back(std::move(entry));
    return Outcome{.figure = place(sheet)};
  }

 private:
  Result<SheetPanel> panel_of(const RunCell& cell, const std::string& quantity) {
    SheetPanel panel{
        .title = cell.title, .x = {.label = "step"}, .y = {.label = label_of(quantity)}, .lines = {}};
    std::vector<std::string> rows;
    std::map<std::string, std::vector<Curve>> curves;
    for (const auto* run : cell.runs) {
      auto curve = curve_of(source_, *run, quantity);
      if (!curve) return curve.error();
      if (curve->size() < 2) continue;
      if (!curves.contains(run->row)) rows.push_back(run->row);
      curves[run->row].push_back(std::move(*curve));
    }
    for (const auto& row : rows) {
      Line line{.style = styles_.of(row), .points = merged(curves[row], options_.band)};
      if (line.points.size() < 2) continue;
      last_step_ = std::max(last_step_, line.points.back().x);
      line.band = options_.band != CurveBand::none && curves[row].size() > 1;
      panel.lines.push_back(std::move(line));
      shown_.push_back(row);
    }
    mark_sparsely(panel.lines);
    panel.y.logarithmic = options_.scale == "logarithmic" ||
                          (options_.scale == "auto" && quantity != "test accuracy" && all_positive(panel));
    if (panel.y.logarithmic) panel.y.label += ", log scale";
    return panel;
  }

  const Source& source_;
  const results::FigureRequest& request_;
  results::CurvesOptions options_;
  std::vector<std::string> quantities_;
  RowStyles styles_;
  std::vector<std::string> shown_;
  double last_step_ = 1;
};

}  // namespace

std::vector<std::string> quantities_of(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream stream(text);
  for (std::string name; std::getline(stream, name, ',');) {
    const auto first = name.find_first_not_of(' ');
    if (first != std::string::npos)
      names.push_back(name.substr(first, name.find_last_not_of(' ') - first + 1));
  }
  return names;
}

std::vector<std::string> known_quantities() {
  std::vector<std::string> names;
  for (const auto& [name, label] : labels()) names.push_back(name);
  return names;
}

Result<Outcome> curves_kind(const Source& source, const results::FigureRequest& request) {
  return Builder(source, request).build();
}

}  // namespace hyfreedp::plots
