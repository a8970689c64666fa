#include "baselines/nondp_gs.h"

namespace hyfreedp::baselines {
namespace {

// The grid's rates as the largest of a schedule; as they are where there is none.
Result<std::vector<trial::TrialConfig>> runs(const Cell& cell) {
  auto configs = oracle_grid(cell, cell.epsilon, list_of(cell.options, "grid"));
  const auto decay = string_or(cell.options, "schedule", "none");
  const auto warmup = int_or(cell.options, "warmup", 0);
  if (!configs || (decay == "none" && warmup == 0)) return configs;
  for (auto& config : *configs) {
    config.controller = controller("schedule", {{"lr", config.controller.options.at("lr")},
                                                {"warmup", warmup},
                                                {"decay", decay == "none" ? "constant" : decay}});
  }
  return configs;
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
          .options = {grid_option("grid", paper_grid(), "learning rates tried"),
                      choice_option("schedule", {"none", "cosine", "linear"},
                                    "decay of each rate over the run, to 0 at its end"),
                      integer_option("warmup", 0, 0, 1e9, "steps of linear warm-up before it")},
          .next = next,
          .conclude = conclude};
}

}  // namespace hyfreedp::baselines
