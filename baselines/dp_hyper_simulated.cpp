#include "baselines/dp_hyper_simulated.h"

#include "baselines/nondp_gs.h"
#include "baselines/support.h"
#include "optimizers/options.h"

namespace hyfreedp::baselines {
namespace {

using Configs = std::vector<trial::TrialConfig>;

struct SimulatedOptions {
  double share = 0.85;
  std::vector<double> grid = wide_grid();
};
BOOST_DESCRIBE_STRUCT(SimulatedOptions, (), (share, grid))

double training_epsilon(const Cell& cell) {
  return read_options<SimulatedOptions>(cell.options).share * *cell.epsilon;
}

Result<Configs> grid_runs(const Cell& cell) {
  return oracle_grid(cell, cell.epsilon, read_options<SimulatedOptions>(cell.options).grid);
}

// The narrow runs around the grid's best; empty while the grid is unfinished or when all of it
// failed.
Result<Configs> narrow_runs(const Cell& cell, const Configs& grid, Finished finished) {
  if (!unfinished(grid, finished).empty()) return Configs{};
  const auto* best = best_of(grid, finished, oracle_score);
  if (best == nullptr) return Configs{};
  const double optimum = read_options<optimizers::ConstantOptions>(best->config.controller.options).lr;
  return oracle_grid(cell, training_epsilon(cell), narrow_range(optimum));
}

Result<Configs> next(const Cell& cell, Finished finished) {
  const auto grid = grid_runs(cell);
  if (!grid) return Configs{};
  auto missing = unfinished(*grid, finished);
  if (!missing.empty()) return missing;
  const auto narrow = narrow_runs(cell, *grid, finished);
  if (!narrow) return Configs{};
  return unfinished(*narrow, finished);
}

Result<Conclusion> conclude(const Cell& cell, Finished finished) {
  const auto grid = grid_runs(cell);
  if (!grid) return infeasible(grid.error());
  if (grid->empty()) return failed("empty-grid", "The grid has no learning rate.");
  const auto narrow = narrow_runs(cell, *grid, finished);
  if (!narrow) return infeasible(narrow.error());
  const auto* best = best_of(*narrow, finished, oracle_score);
  auto conclusion = best == nullptr ? all_failed(narrow->empty() ? *grid : *narrow, finished) : Conclusion{};
  conclusion.label = Label::simulated;
  conclusion.claimed_epsilon = cell.epsilon;
  if (best != nullptr) {
    conclusion.reported_trial = best->id;
    conclusion.composition = one_trial(best->id);
  }
  return conclusion;
}

}  // namespace

std::vector<double> narrow_range(double optimum) { return {0.5 * optimum, optimum, 2 * optimum}; }

Baseline dp_hyper_simulated() {
  return {.name = "dp-hyper-simulated",
          .title = "DP-hyper (simulated 85 %)",
          .source = "Liu and Bu, ICLR 2025, section 5",
          .summary =
              "An uncharged oracle search, narrowed once; training gets 85 % of epsilon, and the rest stands "
              "for the cost of a search.",
          .label = Label::simulated,
          .has_non_private_arm = false,
          .needs_epsilon = "trains with a share of epsilon",
          .options = options_of<SimulatedOptions>(
              {ranged_option("share", 0.01, 1, "share of epsilon that training gets"),
               grid_option("grid", "learning rates of the oracle grid from which the optimum is taken")}),
          .next = next,
          .conclude = conclude};
}

}  // namespace hyfreedp::baselines
