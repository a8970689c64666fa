#include "baselines/random_search.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "baselines/private_selection.h"
#include "baselines/search.h"
#include "harness/base/text.h"

namespace hyfreedp::baselines {
namespace {

enum class Sampling { log_uniform, uniform };
BOOST_DESCRIBE_ENUM(Sampling, log_uniform, uniform)

struct RandomSearchOptions {
  std::int64_t runs = 1;
  Sampling sampling = Sampling::log_uniform;
  double rate_min = 5e-5;
  double rate_max = 5e-2;
  std::int64_t t_min = 1;
  std::int64_t t_max = 0;  // 0: the panel's number of steps
  double threshold_min = 0.1;
  double threshold_max = 0;  // 0: the panel's clipping
  ScoreOptions score;
  static constexpr std::array kInlined = {"score"};
};
BOOST_DESCRIBE_STRUCT(RandomSearchOptions, (),
                      (runs, sampling, rate_min, rate_max, t_min, t_max, threshold_min, threshold_max, score))

struct Interval {
  double low = 0;
  double high = 0;
  bool is_drawn() const { return high > 0; }
  bool is_empty() const { return is_drawn() && low > high; }
  double at(double uniform, bool logarithmic) const {
    return logarithmic ? low * std::pow(high / low, uniform) : low + uniform * (high - low);
  }
};

// Names the two options of a range that holds nothing.
std::optional<Failure> empty_range(const RandomSearchOptions& options) {
  const std::pair<const char*, Interval> intervals[] = {
      {"rate", {options.rate_min, options.rate_max}},
      {"threshold", {options.threshold_min, options.threshold_max}},
      {"t", {static_cast<double>(options.t_min), static_cast<double>(options.t_max)}}};
  for (const auto& [name, interval] : intervals) {
    if (!interval.is_empty()) continue;
    return Failure{
        "empty-grid",
        fmt::format("The range to draw from is empty: {}_min is {} and {}_max is {}; exchange them.", name,
                    short_number(interval.low), name, short_number(interval.high))};
  }
  return std::nullopt;
}

std::int64_t drawn_steps(const RandomSearchOptions& options, double uniform) {
  const auto more = options.t_max - options.t_min;
  return options.t_min + std::min(static_cast<std::int64_t>(uniform * static_cast<double>(more + 1)), more);
}

std::vector<trial::TrialConfig> draws(const Cell& cell) {
  const auto options = read_options<RandomSearchOptions>(cell.options);
  if (empty_range(options)) return {};
  const Interval rates{options.rate_min, options.rate_max};
  const Interval thresholds{options.threshold_min, options.threshold_max};
  const bool logarithmic = options.sampling == Sampling::log_uniform;
  std::vector<trial::TrialConfig> configs;
  for (std::int64_t run = 0; run < options.runs; ++run) {
    auto config = at_rate(cell, 0, rates.at(draw(cell, "rate", run), logarithmic));
    if (options.t_max > 0) config.steps = drawn_steps(options, draw(cell, "steps", run));
    if (thresholds.is_drawn()) {
      config.privacy = with_threshold(config.privacy, thresholds.at(draw(cell, "threshold", run), true));
    }
    configs.push_back(std::move(config));
  }
  return configs;
}

std::vector<OptionSpec> option_table() {
  std::vector<OptionSpec> table = {
      ranged_option("runs", 1, 1e4, "number of draws; each is one run, and all are charged"),
      plain_option("sampling", "distribution of the learning rate in its range"),
      ranged_option("rate_min", 1e-12, 1e6, "smallest learning rate"),
      ranged_option("rate_max", 1e-12, 1e6, "largest learning rate"),
      only_above("t_max", 0, ranged_option("t_min", 1, 1e9, "smallest number of steps, if it is drawn")),
      ranged_option("t_max", 0, 1e9, "largest number of steps; 0: the panel's number, not drawn"),
      only_above("threshold_max", 0,
                 ranged_option("threshold_min", 1e-12, 1e6, "smallest clipping threshold, if it is drawn")),
      ranged_option("threshold_max", 0, 1e6,
                    "largest clipping threshold; 0: the panel's clipping, not drawn")};
  for (auto& option : score_options([](OptionSpec one) { return only_above("runs", 1, std::move(one)); }))
    table.push_back(std::move(option));
  return options_of<RandomSearchOptions>(std::move(table));
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
      .options = option_table(),
      .next = {},
      .conclude = {}};
  make_search(baseline, Tuning::composed, draws);
  baseline.releases_scores = [](const json::object& options) {
    return read_options<RandomSearchOptions>(options).runs > 1;
  };
  baseline.conclude = [search = baseline.conclude](const Cell& cell,
                                                   Finished finished) -> Result<Conclusion> {
    auto conclusion = search(cell, finished);
    if (auto empty = empty_range(read_options<RandomSearchOptions>(cell.options)); conclusion && empty)
      conclusion->failure = std::move(empty);
    return conclusion;
  };
  return baseline;
}

}  // namespace hyfreedp::baselines
