// Functions that most methods share: options, trials at a given noise and learning rate, waiting,
// choosing, failing.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "baselines/baseline.h"
#include "harness/base/describe.h"
#include "harness/base/option_lines.h"

namespace hyfreedp::baselines {

using Finished = std::span<const FinishedTrial>;

// A member that is a list of learning rates or the like; may be empty, which makes the cell fail
// with "empty-grid".
OptionSpec grid_option(std::string name, std::string help);
// `table` with another default for one option.
std::vector<OptionSpec> with_default(std::vector<OptionSpec> table, const std::string& name,
                                     json::value value);
// The members of `options` that `table` declares.
json::object subset(const json::object& options, const std::vector<OptionSpec>& table);

// The optimizer or controller of that name with every default filled in. The given options come
// from resolved options of the same table, so a mismatch is an invariant violation (it throws).
trial::Named optimizer(const std::string& name, const json::object& given);
trial::Named controller(const std::string& name, const json::object& given);

// The learning rates of the HyFreeDP paper's grid search, and the same grid with three larger
// rates.
const std::vector<double>& paper_grid();
const std::vector<double>& wide_grid();

// The gradient noise of `plan` for plain DP training of `steps` steps at `epsilon` and the cell's
// delta, by the cell's accountant, which leaves room for its other releases: those of every step,
// and those before step 0 in each of the `runs` that these steps make up. 0 without an epsilon, and
// the cell's noise multiplier where the spec fixes it. An error if the epsilon is infeasible.
Result<double> noise_for(const Cell& cell, const trial::PrivacyPlan& plan, std::int64_t steps,
                         std::optional<double> epsilon, std::int64_t runs = 1);
// The same for the cell's own plan and number of steps.
Result<double> plain_noise(const Cell& cell, std::optional<double> epsilon);
// `plan` with its clipping threshold set aside, which no event has: plans that differ in it alone
// share a calibration.
trial::PrivacyPlan same_price(trial::PrivacyPlan plan);
// Noise multiplier of all that each of the cell's runs releases before step 0, taken as one
// Gaussian release on the whole split; 0: nothing.
double noise_before(const Cell& cell);
// The cell's config at gradient noise `noise` (0: non-private) and a constant learning rate.
trial::TrialConfig at_rate(const Cell& cell, double noise, double rate);
// The same without noise for each of `rates`: candidates.
std::vector<trial::TrialConfig> at_rates(const Cell& cell, const std::vector<double>& rates);

// `plan` with the clipping of Abadi et al. at threshold C in place of its own.
trial::PrivacyPlan with_threshold(trial::PrivacyPlan plan, double threshold);
// `plan` with batches of that size; full batches if it is the population. The noise of a clip count
// keeps its ratio to the batch.
trial::PrivacyPlan at_batch_size(trial::PrivacyPlan plan, double batch_size);
trial::PrivacyPlan on_full_batches(trial::PrivacyPlan plan);
// An error if n released scores, each a Gaussian of sensitivity one count, by themselves cost more
// than the cell's epsilon.
Result<void> check_scores(const Cell& cell, std::int64_t scores, double score_noise);

const FinishedTrial* find_finished(Finished finished, const trial::TrialConfig& config);
// The wanted trials that have not finished, in order.
std::vector<trial::TrialConfig> unfinished(std::vector<trial::TrialConfig> wanted, Finished finished);
// Counts up `repetition` of configs that occur earlier in the list, so that equal draws become
// independent runs.
void make_independent(std::vector<trial::TrialConfig>& configs);

// The one of `configs` with the largest score among those that finished without failure, the first
// of equals; null if there is none.
using Score = std::function<std::optional<double>(const FinishedTrial&)>;
const FinishedTrial* best_of(const std::vector<trial::TrialConfig>& configs, Finished finished,
                             const Score& score);
std::optional<double> oracle_score(const FinishedTrial& trial);
std::optional<double> released_score(const FinishedTrial& trial);

inline constexpr const char* kEmptyGrid = "The grid is empty: there is nothing to choose from.";

Composition one_trial(std::string id);
Composition no_cost();
Conclusion failed(std::string kind, std::string message);
Conclusion infeasible(const Error& error);
// Reports the last run of a search, or its failure.
void report_final(const FinishedTrial& last, Conclusion& conclusion);
// All of `configs` failed: the kinds that occurred, and what they cost. `rest`: the runs that would
// have followed, which are charged as planned (Composition::not_begun); `part`: of the training
// split, that they would have had.
Conclusion all_failed(const std::vector<trial::TrialConfig>& configs, Finished finished,
                      const std::vector<trial::TrialConfig>& rest = {}, const std::string& part = "");

// Makes a method that is one training run from the function that makes its config. An error of
// `make` means an infeasible epsilon. `describe` adds label, flags and claims to the conclusion.
using MakeTrial = std::function<Result<trial::TrialConfig>(const Cell&)>;
using Describe = std::function<void(const Cell&, Conclusion&)>;
void make_single_run(Baseline& baseline, const MakeTrial& make, const Describe& describe = {});

}  // namespace hyfreedp::baselines
