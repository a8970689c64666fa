#include "baselines/nondp_gs.h"

#include <utility>

#include "baselines/search.h"

namespace hyfreedp::baselines {
namespace {

using Configs = std::vector<trial::TrialConfig>;

// Each config with each of `values`; as they are where there are none.
template <class Set>
Configs crossed(Configs configs, const std::vector<double>& values, const Set& set) {
  if (values.empty()) return configs;
  Configs all;
  for (const auto& config : configs) {
    for (const double value : values) {
      all.push_back(config);
      set(all.back(), value);
    }
  }
  return all;
}

// The rates as the largest of a schedule; as they are where there is none.
Configs scheduled(const Cell& cell, Configs configs) {
  const auto decay = string_or(cell.options, "schedule", "none");
  const auto warmup = int_or(cell.options, "warmup", 0);
  if (decay == "none" && warmup == 0) return configs;
  for (auto& config : configs) {
    config.controller = controller("schedule", {{"lr", config.controller.options.at("lr")},
                                                {"warmup", warmup},
                                                {"decay", decay == "none" ? "constant" : decay}});
  }
  return configs;
}

Configs candidates(const Cell& cell) {
  auto configs = scheduled(cell, at_rates(cell, list_of(cell.options, "grid")));
  configs = crossed(std::move(configs), list_of(cell.options, "lengths"),
                    [](auto& config, double steps) { config.steps = static_cast<std::int64_t>(steps); });
  // Nothing is clipped without privacy, but in the clip-only arm.
  if (cell.base.privacy.clipping == trial::Clipping::none) return configs;
  return crossed(std::move(configs), list_of(cell.options, "thresholds"), [](auto& config, double threshold) {
    config.privacy = with_threshold(config.privacy, threshold);
  });
}

OptionSpec lengths_option() {
  auto option = grid_option("lengths", {}, "numbers of steps tried; none: the panel's");
  option.type = OptionType::integer_list;
  option.min = 1;
  option.max = 1e9;
  return option;
}

}  // namespace

Result<Configs> oracle_grid(const Cell& cell, std::optional<double> epsilon,
                            const std::vector<double>& rates) {
  return oracle_runs(cell, at_rates(cell, rates), epsilon);
}

Baseline nondp_gs() {
  Baseline baseline{
      .name = "nondp-gs",
      .title = "NonDP-GS",
      .source = "Liu and Bu, ICLR 2025, section 5",
      .summary = "Grid search on un-noised validation accuracy; the search is not charged.",
      .options = {grid_option("grid", paper_grid(), "learning rates tried"),
                  choice_option("schedule", {"none", "cosine", "linear"},
                                "decay of each rate over the run, to 0 at its end"),
                  integer_option("warmup", 0, 0, 1e9, "steps of linear warm-up before the decay"),
                  grid_option("thresholds", {}, "clipping thresholds C tried; none: the panel's clipping"),
                  lengths_option()},
      .next = {},
      .conclude = {}};
  make_search(baseline, Tuning::oracle, candidates);
  return baseline;
}

}  // namespace hyfreedp::baselines
