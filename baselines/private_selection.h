// Private selection among candidates, charged in full. Papernot & Steinke, ICLR 2022; Liu & Talwar,
// STOC 2019.
//
//   1. K runs are made, K from the rule's distribution (run_count.h); each run has a candidate
//      drawn uniformly with replacement. Count and draws come from draw() (baseline.h).
//   2. Each run is scored by its validation accuracy with Gaussian noise of standard deviation
//      `score_noise` counts, or by its clipped validation losses with the same noise.
//   3. The best-scored run is released and nothing else: the number of runs and the losing runs are
//      confidential.
// sigma is the smallest noise multiplier for which the selection's epsilon, by RDP, is at most the
// target. Gradients touch private_train, the score touches private_validation, and the guarantee is
// the larger of the two. All candidates must cost the same: the theorems are about one mechanism,
// which draws a candidate and runs it. If a spec without noise_seed is planned without a secret,
// the draws come from a public text; whoever knows the program then knows the number of runs, and
// the row says so.
#pragma once

#include "baselines/run_count.h"
#include "baselines/support.h"

namespace hyfreedp::baselines {

// The noise and the loss bound of each validation score (trial::ScoreRelease).
struct ScoreOptions {
  double score_noise = 30;      // standard deviation in counts of correct examples
  double score_loss_bound = 0;  // R; 0: the score is the validation accuracy

  trial::ScoreRelease release() const { return {score_noise, score_loss_bound}; }
  bool operator==(const ScoreOptions&) const = default;
};
BOOST_DESCRIBE_STRUCT(ScoreOptions, (), (score_noise, score_loss_bound))

struct SelectionOptions {
  RunCount runs = RunCount::geometric;
  double mean_runs = 0;  // up to 1: the number of candidates
  ScoreOptions score;
  static constexpr std::array kInlined = {"score"};
};
BOOST_DESCRIBE_STRUCT(SelectionOptions, (), (runs, mean_runs, score))

// The options of a method's ScoreOptions, for a table of options_of.
std::vector<OptionSpec> score_options();
// The same, each read only where `condition` makes it so: only_above, only_without.
std::vector<OptionSpec> score_options(const std::function<OptionSpec(OptionSpec)>& condition);
// The options of a method's SelectionOptions, for a table of options_of. `may_follow`: true if the
// mean number of runs may be the number of candidates.
std::vector<OptionSpec> selection_options(bool may_follow);

struct SelectionRule {
  RunCount distribution = {};
  double mean = 0;
  ScoreOptions score = {};
};
// Reads the cell's SelectionOptions.
SelectionRule selection_rule_of(const Cell& cell, std::size_t candidates);

// The next functions take `candidates`, configs without gradient noise: the selection as an event
// to price, its runs, and its conclusion.
Result<accounting::Selection> selection_cost(const Cell& cell, const SelectionRule& rule,
                                             const std::vector<trial::TrialConfig>& candidates);
Result<std::vector<trial::TrialConfig>> selection_runs(const Cell& cell, const SelectionRule& rule,
                                                       const std::vector<trial::TrialConfig>& candidates);
Result<Conclusion> conclude_selection(const Cell& cell, const SelectionRule& rule,
                                      const std::vector<trial::TrialConfig>& candidates, Finished finished);

}  // namespace hyfreedp::baselines
