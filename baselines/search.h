// The ways in which a method chooses among its candidates, and what each costs.
//
//   selection  private selection (private_selection.h): a random number of runs, the best released;
//              end-to-end DP, and how many runs there were is confidential
//   composed   every candidate is run and all runs are charged in sequence; the best noised
//              validation score wins. One candidate is one run at the full budget, without a score.
//              End-to-end DP
//   oracle     every candidate is run at the full budget, the best un-noised validation accuracy
//              wins and the reported run alone is charged; label oracle
// composed: all runs have one noise multiplier, that of a single run of their summed length at the
// cell's epsilon (by PLD), so lengths may differ between candidates. Each score is a full-batch
// Gaussian of sensitivity one count on the validation split, which their composition must not spend
// more than epsilon on.
#pragma once

#include "baselines/support.h"

namespace hyfreedp::baselines {

enum class Tuning { selection, composed, oracle };
BOOST_DESCRIBE_ENUM(Tuning, selection, composed, oracle)

// The candidates of a cell, without gradient noise: a pure function that returns nothing if there
// is nothing to choose from.
using Candidates = std::function<std::vector<trial::TrialConfig>(const Cell&)>;

// Sets the baseline's label, confidentiality, next and conclude for one way of choosing. Of the
// cell's options, selection reads the SelectionOptions and composed the ScoreOptions
// (private_selection.h).
void make_search(Baseline& baseline, Tuning tuning, const Candidates& candidates);

// The number of candidates of a cell with these resolved options.
using CandidateCount = std::function<std::int64_t(const json::object& options)>;

// The same with an option `tuning`, whose default is `default_tuning`, and with the options that
// its choices read; those that a choice leaves unread are refused.
void offer_tunings(Baseline& baseline, Tuning default_tuning, const Candidates& candidates,
                   const CandidateCount& count);

// Every candidate at the common noise of their composition, with a score if there are several. An
// error if the epsilon is infeasible.
Result<std::vector<trial::TrialConfig>> composed_runs(const Cell& cell,
                                                      std::vector<trial::TrialConfig> candidates);

// Every candidate at the full budget `epsilon`, to be compared by un-noised validation accuracy.
Result<std::vector<trial::TrialConfig>> oracle_runs(const Cell& cell,
                                                    const std::vector<trial::TrialConfig>& candidates,
                                                    std::optional<double> epsilon);

}  // namespace hyfreedp::baselines
