#include "baselines/nondp_gs.h"

#include <utility>

#include "baselines/search.h"

namespace hyfreedp::baselines {
namespace {

using Configs = std::vector<trial::TrialConfig>;

enum class Schedule { none, cosine, linear };
BOOST_DESCRIBE_ENUM(Schedule, none, cosine, linear)

struct GridSearchOptions {
  std::vector<double> grid = paper_grid();
  Schedule schedule = Schedule::none;
  std::int64_t warmup = 0;  // steps
  std::vector<double> thresholds;
  std::vector<std::int64_t> lengths;
};
BOOST_DESCRIBE_STRUCT(GridSearchOptions, (), (grid, schedule, warmup, thresholds, lengths))

// Each config with each of `values`; as they are where there are none.
template <class T, class Set>
Configs crossed(Configs configs, const std::vector<T>& values, const Set& set) {
  if (values.empty()) return configs;
  Configs all;
  for (const auto& config : configs) {
    for (const T value : values) {
      all.push_back(config);
      set(all.back(), value);
    }
  }
  return all;
}

// The rates as the largest of a schedule; as they are where there is none.
Configs scheduled(const GridSearchOptions& options, Configs configs) {
  const bool decays = options.schedule != Schedule::none;
  if (!decays && options.warmup == 0) return configs;
  for (auto& config : configs) {
    config.controller = controller("schedule", {{"lr", config.controller.options.at("lr")},
                                                {"warmup", options.warmup},
                                                {"decay", decays ? name_of(options.schedule) : "constant"}});
  }
  return configs;
}

Configs candidates(const Cell& cell) {
  const auto options = read_options<GridSearchOptions>(cell.options);
  auto configs = scheduled(options, at_rates(cell, options.grid));
  configs = crossed(std::move(configs), options.lengths,
                    [](auto& config, std::int64_t steps) { config.steps = steps; });
  // Gradients are clipped without privacy only in the clip-only arm.
  if (cell.base.privacy.clipping.rule == trial::ClippingRule::none) return configs;
  return crossed(std::move(configs), options.thresholds, [](auto& config, double threshold) {
    config.privacy = with_threshold(config.privacy, threshold);
  });
}

}  // namespace

Result<Configs> oracle_grid(const Cell& cell, std::optional<double> epsilon,
                            const std::vector<double>& rates) {
  return oracle_runs(cell, at_rates(cell, rates), epsilon);
}

Baseline nondp_gs() {
  Baseline baseline{.name = "nondp-gs",
                    .title = "NonDP-GS",
                    .source = "Liu and Bu, ICLR 2025, section 5",
                    .summary = "Grid search on un-noised validation accuracy; the search is not charged.",
                    .options = options_of<GridSearchOptions>(
                        {grid_option("grid", "learning rates tried"),
                         plain_option("schedule", "decay of each rate over the run, to 0 at its end"),
                         ranged_option("warmup", 0, 1e9, "steps of linear warm-up before the decay"),
                         grid_option("thresholds", "clipping thresholds C tried; none: the panel's clipping"),
                         ranged_option("lengths", 1, 1e9, "numbers of steps tried; none: the panel's")}),
                    .next = {},
                    .conclude = {}};
  make_search(baseline, Tuning::oracle, candidates);
  return baseline;
}

}  // namespace hyfreedp::baselines
