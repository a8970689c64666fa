#include "baselines/single_step.h"

#include "baselines/search.h"

namespace hyfreedp::baselines {
namespace {

std::vector<trial::TrialConfig> candidates(const Cell& cell) {
  const auto name = string_or(cell.options, "optimizer", "sgd");
  std::vector<trial::TrialConfig> configs;
  for (const double rate : list_of(cell.options, "rates")) {
    auto config = at_rate(cell, 0, rate);
    config.steps = 1;
    config.optimizer = optimizer(name, {});
    config.privacy = on_full_batches(config.privacy);
    if (auto* init = config.model.options.if_contains("init")) *init = "zero";
    configs.push_back(std::move(config));
  }
  return configs;
}

}  // namespace

Baseline single_step() {
  Baseline baseline{
      .name = "single-step",
      .title = "Single step",
      .source = "Mehta et al. 2022, arXiv:2205.02973",
      .summary = "One full-batch step from a zero last layer at a public rate; nothing is tuned.",
      .options = {grid_option("rates", {1}, "learning rates to try; a single one needs no tuning"),
                  choice_option("optimizer", {"sgd", "adam"}, "optimizer that makes the step")},
      .next = {},
      .conclude = {}};
  offer_tunings(baseline, Tuning::composed, candidates);
  return baseline;
}

}  // namespace hyfreedp::baselines
