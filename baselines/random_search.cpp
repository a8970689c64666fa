#include "baselines/random_search.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <string>

#include "baselines/private_selection.h"
#include "baselines/search.h"
#include "harness/base/text.h"

namespace hyfreedp::baselines {
namespace {

struct Interval {
  double low = 0;
  double high = 0;
  bool is_drawn() const { return high > 0; }
  bool is_empty() const { return is_drawn() && low > high; }
  double at(double uniform, bool logarithmic) const {
    return logarithmic ? low * std::pow(high / low, uniform) : low + uniform * (high - low);
  }
};

Interval interval_of(const Cell& cell, const std::string& name) {
  return {double_or(cell.options, name + "_min", 0), double_or(cell.options, name + "_max", 0)};
}

// Names the two options of a range that holds nothing.
std::optional<Failure> empty_range(const Cell& cell) {
  for (const char* name : {"rate", "threshold", "t"}) {
    const auto interval = interval_of(cell, name);
    if (!interval.is_empty()) continue;
    return Failure{
        "empty-grid",
        fmt::format("The range to draw from is empty: {}_min is {} and {}_max is {}; exchange them.", name,
                    short_number(interval.low), name, short_number(interval.high))};
  }
  return std::nullopt;
}

std::vector<trial::TrialConfig> draws(const Cell& cell) {
  const auto rates = interval_of(cell, "rate");
  const auto thresholds = interval_of(cell, "threshold");
  const auto t_min = int_or(cell.options, "t_min", 1);
  const auto t_max = int_or(cell.options, "t_max", 0);
  if (empty_range(cell)) return {};
  const bool logarithmic = string_or(cell.options, "sampling", "") == "log-uniform";
  std::vector<trial::TrialConfig> configs;
  for (std::int64_t run = 0; run < int_or(cell.options, "runs", 1); ++run) {
    auto config = at_rate(cell, 0, rates.at(draw(cell, "rate", run), logarithmic));
    if (t_max > 0) {
      const double uniform = draw(cell, "steps", run);
      config.steps =
          t_min + std::min(static_cast<std::int64_t>(uniform * static_cast<double>(t_max - t_min + 1)),
                           t_max - t_min);
    }
    if (thresholds.is_drawn()) {
      config.privacy = with_threshold(config.privacy, thresholds.at(draw(cell, "threshold", run), true));
    }
    configs.push_back(std::move(config));
  }
  return configs;
}

}  // namespace

Baseline random_search() {
  Baseline baseline{
      .name = "random-search",
      .title = "Random search",
      .source = "the rival in Panda et al., ICML 2024, sections 2.1 and 5.2",
      .summary = "Learning rates drawn at random; one run with the whole budget, or several, all charged.",
      .has_non_private_arm = false,
      .needs_epsilon = "may draw the number of steps, which decides what a noise multiplier costs",
      .options = {integer_option("runs", 1, 1, 1e4, "number of draws; each is one run, and all are charged"),
                  choice_option("sampling", {"log-uniform", "uniform"},
                                "distribution of the learning rate in its range"),
                  real_option("rate_min", 5e-5, 1e-12, 1e6, "smallest learning rate"),
                  real_option("rate_max", 5e-2, 1e-12, 1e6, "largest learning rate"),
                  integer_option("t_min", 1, 1, 1e9, "smallest number of steps, if it is drawn"),
                  integer_option("t_max", 0, 0, 1e9,
                                 "largest number of steps; 0: the panel's number, not drawn"),
                  real_option("threshold_min", 0.1, 1e-12, 1e6,
                              "smallest clipping threshold, if it is drawn"),
                  real_option("threshold_max", 0, 0, 1e6,
                              "largest clipping threshold; 0: the panel's clipping, not drawn"),
                  score_noise_option()},
      .next = {},
      .conclude = {}};
  make_search(baseline, Tuning::composed, draws);
  baseline.releases_scores = [](const json::object& options) { return int_or(options, "runs", 1) > 1; };
  baseline.conclude = [search = baseline.conclude](const Cell& cell,
                                                   Finished finished) -> Result<Conclusion> {
    auto conclusion = search(cell, finished);
    if (auto empty = empty_range(cell); conclusion && empty) conclusion->failure = std::move(empty);
    return conclusion;
  };
  return baseline;
}

}  // namespace hyfreedp::baselines
