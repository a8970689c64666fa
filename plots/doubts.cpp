#include "plots/doubts.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/base/text.h"
#include "optimizers/facts.h"
#include "plots/figures.h"
#include "plots/kinds.h"

namespace hyfreedp::plots {
namespace {

using Runs = std::vector<Run>;

bool probes(const Run& run) {
  const auto facts = optimizers::find_controller(named_in(run.config, "controller").name);
  return facts && (**facts).probes;
}

void doubt_setting(const Runs& runs, const std::string& name, std::vector<std::string>& doubts) {
  if (name.empty() ||
      std::ranges::any_of(runs, [&](const Run& run) { return setting(run, name).has_value(); }))
    return;
  doubts.push_back(fmt::format("no run that the spec begins with has '{}' among its settings", name));
}

void doubt_quantity(const Runs& runs, const std::string& name, std::vector<std::string>& doubts) {
  if (name == kStepSize) {
    if (std::ranges::none_of(runs, [](const Run& run) { return step_size_scalar(run.config).has_value(); }))
      doubts.push_back("no row that it is of chooses its step size");
    return;
  }
  // Single words are not checked: they may be names of what a method stores.
  const auto known = known_quantities();
  if (name.find(' ') == std::string::npos || std::ranges::count(known, name) > 0) return;
  doubts.push_back(fmt::format("there is no quantity '{}'.{}", name, did_you_mean(name, known)));
}

}  // namespace

std::vector<std::string> doubts_of(const results::FigureRequest& request, const Runs& first) {
  Runs runs;
  for (const auto& run : first) {
    if (request.wants_panel(run.panel) && request.wants_row(run.row, run.group) &&
        request.wants_epsilon(run.epsilon))
      runs.push_back(run);
  }
  std::vector<std::string> doubts;
  if (runs.empty()) return doubts;
  if (request.kind == "heat-map") {
    const auto options = read_options<results::HeatMapOptions>(request.options);
    doubt_setting(runs, options.x, doubts);
    doubt_setting(runs, options.y, doubts);
  } else if (request.kind == "pareto") {
    doubt_setting(runs, read_options<results::ParetoOptions>(request.options).x, doubts);
  } else if (request.kind == "accuracy") {
    doubt_setting(runs, read_options<results::AccuracyOptions>(request.options).setting, doubts);
  } else if (request.kind == "box") {
    const auto options = read_options<results::BoxOptions>(request.options);
    for (const auto& text : {options.marked, options.starred}) {
      const auto settings = parse_settings(text);
      if (!settings) doubts.push_back(settings.error().message);
      if (!settings) continue;
      for (const auto& [one, value] : *settings) doubt_setting(runs, one, doubts);
    }
  } else if (request.kind == "curves") {
    const auto quantities = read_options<results::CurvesOptions>(request.options).quantities;
    for (const auto& name : quantities_of(quantities)) doubt_quantity(runs, name, doubts);
  } else if (request.kind == "probe-fit") {
    if (std::ranges::none_of(runs, probes)) doubts.push_back("no row that it is of makes loss probes");
  }
  return doubts;
}

}  // namespace hyfreedp::plots
