// Private selection among candidates, charged in full. Papernot & Steinke, ICLR 2022; Liu & Talwar, STOC 2019.
//
//   1. K runs, K from the rule's distribution (run_count.h); each of a candidate drawn uniformly with replacement. Count and
//      draws come from draw().
//   2. Each run is scored by its validation accuracy with Gaussian noise of `score_noise` counts.
//   3. The best-scored run is released, and nothing else: the run count and the losing runs are confidential.
// sigma is the smallest for which the selection's epsilon, by RDP, is at most the target; gradients touch
// private_train, the score touches private_validation, and the guarantee is the larger of the two. All candidates cost the
// same: the theorems are about one mechanism, that of drawing a candidate and running it.
// The draws of a spec without noise_seed come from a public text where no secret was given: the count is then known to
// whoever knows the program, and the row says so.
#pragma once

#include "baselines/run_count.h"
#include "baselines/support.h"

namespace hyfreedp::baselines {

struct SelectionRule {
  RunCount distribution = RunCount::geometric;
  double mean = 4;
  double score_noise = 30;  // standard deviation in counts of correct examples
};

// Options `runs`, `mean_runs` and `score_noise`. A default mean of 0 is offered as "the number of candidates".
std::vector<OptionSpec> selection_options(double mean_runs);
OptionSpec score_noise_option();
SelectionRule selection_rule_of(const Cell& cell, std::size_t candidates);

// `candidates`: configs without gradient noise. What the selection will cost, its runs, and what it concludes.
Result<accounting::Selection> selection_cost(const Cell& cell, const SelectionRule& rule,
                                             const std::vector<trial::TrialConfig>& candidates);
Result<std::vector<trial::TrialConfig>> selection_runs(const Cell& cell, const SelectionRule& rule,
                                                       const std::vector<trial::TrialConfig>& candidates);
Result<Conclusion> conclude_selection(const Cell& cell, const SelectionRule& rule,
                                      const std::vector<trial::TrialConfig>& candidates, Finished finished);

}  // namespace hyfreedp::baselines
