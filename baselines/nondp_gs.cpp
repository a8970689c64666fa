#include "baselines/nondp_gs.h"

namespace hyfreedp::baselines {
namespace {

Result<std::vector<trial::TrialConfig>> runs(const Cell& cell) {
  return oracle_grid(cell, cell.epsilon, list_of(cell.options, "grid"));
}

Result<std::vector<trial::TrialConfig>> next(const Cell& cell, Finished finished) {
  const auto wanted = runs(cell);
  if (!wanted) return std::vector<trial::TrialConfig>{};
  return unfinished(*wanted, finished);
}

Result<Conclusion> conclude(const Cell& cell, Finished finished) {
  const auto wanted = runs(cell);
  if (!wanted) return infeasible(wanted.error());
  if (wanted->empty()) return failed("empty-grid", "The grid has no learning rate.");
  const auto* best = best_of(*wanted, finished, oracle_score);
  Conclusion conclusion = best == nullptr ? all_failed(*wanted, finished) : Conclusion{};
  conclusion.label = cell.epsilon ? Label::oracle : Label::non_private;
  if (best != nullptr) conclusion.reported_trial = best->id;
  if (!cell.epsilon) {
    conclusion.composition = no_cost();
  } else if (best != nullptr) {
    conclusion.composition = one_trial(best->id);
  }
  return conclusion;
}

}  // namespace

Result<std::vector<trial::TrialConfig>> oracle_grid(const Cell& cell, std::optional<double> epsilon,
                                                    const std::vector<double>& rates) {
  const auto noise = plain_noise(cell, epsilon);
  if (!noise) return noise.error();
  std::vector<trial::TrialConfig> configs;
  for (const double rate : rates) {
    auto config = at_rate(cell, *noise, rate);
    config.evaluation.oracle_validation = true;
    configs.push_back(std::move(config));
  }
  return configs;
}

Baseline nondp_gs() {
  return {.name = "nondp-gs",
          .title = "NonDP-GS",
          .source = "Liu and Bu, ICLR 2025, section 5",
          .summary = "Grid search on un-noised validation accuracy; the search is not charged.",
          .label = Label::oracle,
          .options = {grid_option("grid", paper_grid(), "learning rates tried")},
          .next = next,
          .conclude = conclude};
}

}  // namespace hyfreedp::baselines
