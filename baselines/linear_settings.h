// What a cell's options say of the linear scaling search, checked, with the noise of each kind of
// run.
//
// Full batches: a run of T steps at sigma = sqrt(T) / mu is mu-GDP for all T and eta, so T may
// follow from scores. Sampled batches have no such form, and no accountant here prices rates and
// noises that are chosen by results. There T is fixed, and B and C are drawn from public
// randomness, so that every noise is known before the first run: a sweep's run costs its own
// epsilon by PLD, and the final noise is what the whole search leaves.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "baselines/baseline.h"
#include "baselines/linear_rule.h"

namespace hyfreedp::baselines::linear_search {

struct Settings {
  linear_rule::Space space;
  std::vector<double> epsilons;  // of a run of each sweep
  std::int64_t n = 3;
  bool narrowed = true;
  bool logarithmic = false;
  bool over_mu = false;
  bool sampled = false;
  bool unpriced = false;       // is_unpriced
  bool draws_both = false;     // a sweep draws eta and T, not r
  bool whole_product = false;  // r = eta T B C
  linear_rule::Fit fit = linear_rule::Fit::line;
  json::object sgd;  // its options
  double score_noise = 30;
  linear_rule::Budget budget;  // sampled: the mu that costs what a run costs
  // Sampled: sigma of each run of each stage, the final one last.
  std::vector<std::vector<double>> noise;

  double axis_of(std::size_t sweep) const { return over_mu ? budget.mu[sweep] : epsilons[sweep]; }
  double final_axis() const { return over_mu ? budget.mu_final : budget.epsilon_final; }
};

// The place of one run in the search. Sweeps count from 0; the final run has stage
// `epsilons.size()` and index 0.
struct Place {
  std::size_t stage = 0;
  std::int64_t index = 0;
};
std::string stage_name(const Settings& settings, std::size_t stage);  // "first sweep", ..., "final"

// Whether all epsilons of the row have one search (`sweep_epsilons`).
bool has_one_search(const json::object& options);
// The cell that a sweep's draws are for: without an epsilon where all have one search.
Cell searched_cell(Cell cell);
// Whether the pick is by un-noised training accuracy.
bool is_unpriced(const json::object& options);
// An error for an option that contradicts another option or the panel, and for an empty range;
// nothing if there is none.
std::optional<Failure> conflict(const Cell& cell);
// Reads the settings; conflict() must have found nothing. An error if the epsilon is infeasible.
Result<Settings> settings_of(const Cell& cell);

// The plan of a run: sampler, B, C, and the noise of `steps` steps; on full batches that of `mu`.
trial::PrivacyPlan plan_of(const Cell& cell, const Settings& settings, Place place, std::int64_t steps,
                           double mu);

std::vector<OptionSpec> options();

}  // namespace hyfreedp::baselines::linear_search
