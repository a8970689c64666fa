// The contract of a baseline: a method, as a pure function from finished trials to the next ones.
//
//   next(cell, finished)      returns the training runs that are wanted now, given those that have
//                             finished; none when there are enough
//   conclude(cell, finished)  returns the run that is reported, the rule by which its privacy cost
//                             composes, and the label of the row
//
// Invariants
//   - Pure: the answer depends on the arguments only (Cell::calibrations remembers, and changes no
//     answer). Randomness (private selection's number of
//     runs, random search) comes from draw(), a stream keyed by the cell, so the same finished
//     trials always give the same answer. That makes every study resumable, parallel and
//     distributable.
//   - A baseline never touches data. It may select on what FinishedTrial offers: a released
//     (noised, priced) validation score, or, for an `oracle` row only, the un-noised validation
//     accuracy. Test results are not there.
//   - It calibrates noise by harness/accounting, with Cell::accountant, and puts it into the
//     trial's privacy plan. Epsilon is later derived from executed events by the composition that
//     conclude() returns, and not from what the baseline intended.
//   - Trials wanted by several rows are run once: equal configs are equal trials. Independent
//     repeats of one setting differ in TrialConfig::repetition.
//   - The composition is the method's own statement. For an end-to-end row the runner refuses one
//     that leaves out a run that the method asked for, and a run that asked for un-noised
//     validation.
//   - To select honestly, set TrialConfig::evaluation.score. The noised score comes back as
//     released_score and is priced as a full-batch Gaussian release on the private validation
//     split. Configs start from support.h.
//   - A cell that cannot be filled (infeasible epsilon, empty grid) is a Conclusion with `failure`
//     set: a typed row, not a blank.
//
// Called by harness/runner (study loop) and `hyfreedp run --dry-run`. Registered in
// baselines/registry.cpp. To add one: `hyfreedp new baseline NAME` copies the template and
// registers it; TEMPLATE.md has the steps.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/accounting/accountant.h"
#include "harness/base/options.h"
#include "harness/mechanism/journal.h"
#include "harness/trial/composition.h"
#include "harness/trial/trial_config.h"

namespace hyfreedp::baselines {

using trial::Composition;
using trial::kRepetitionsPerRelease;

class Calibrations;  // calibrations.h

// Describes one study: the panel, row, epsilon and seed that a method is asked to fill in.
struct Cell {
  std::string panel;
  std::string row;
  std::optional<double> epsilon;  // target; absent: non-private
  // The noise multiplier of every run's gradients, if the spec fixes it. Nothing is calibrated
  // then, and epsilon is the cost of the runs with that noise (fixed_noise.h).
  std::optional<double> noise_multiplier = {};
  double delta = 0;
  std::string accountant = "pld";  // that sets the noise: noise_accountant()
  std::int64_t seed = 0;
  json::object options;  // of the baseline, resolved against its facts
  trial::TrialConfig
      base;  // all that the panel fixes; optimizer and controller are the panel's defaults, the
             // plan has sampler, q, B, N, clipping, is_private = epsilon.has_value(), no noise yet
  std::int64_t validation_size = 0;  // public
  std::int64_t dimension = 0;        // trainable parameters, public
  // Secret of the draws if the spec has no noise_seed. It is kept hidden like a noise key, because
  // private selection is private only while the number of its runs is hidden. The runner sets it
  // and deletes it once the spec is complete; it is never stored with results.
  std::optional<std::string> draw_secret = {};
  // Answers that all cells of one spec share, so that each is computed once. Null: none are shared.
  std::shared_ptr<Calibrations> calibrations = {};
};

struct FinishedTrial {
  std::string id;
  trial::TrialConfig config;
  bool failed = false;
  std::string failure_kind;
  // noised validation accuracy, when the config asked for one
  std::optional<double> released_score;
  std::optional<double> oracle_validation;  // un-noised; only when the config asked for it
  std::optional<double> oracle_train = {};  // the same of the training split
};

enum class Label { end_to_end, oracle, simulated, non_private };
std::string to_string(Label label);  // "end-to-end DP", "oracle", "simulated", "non-private"

// Flag of a row whose accounting understates its noise; the runner keeps it if the cost exceeds the
// claim.
inline constexpr const char* kUnderstated = "paper accounting: epsilon understated";

struct Failure {
  // "infeasible-epsilon", "empty-grid", "all-trials-failed", "no-run-drawn", ...
  std::string kind;
  std::string message;  // a sentence
};

struct Conclusion {
  std::string reported_trial;  // id; empty when failed
  Composition composition;
  Label label = Label::end_to_end;
  std::vector<std::string> flags;      // short: "paper accounting: epsilon understated"
  std::vector<std::string> footnotes;  // sentences
  std::optional<double>
      claimed_epsilon;  // where it differs from what was spent (paper accounting, simulated)
  std::optional<Failure> failure;
};

struct Baseline {
  std::string name;     // as a spec writes it
  std::string title;    // as a table prints it
  std::string source;   // paper
  std::string summary;  // a sentence for `hyfreedp list methods`
  Label label = Label::end_to_end;
  bool has_non_private_arm = true;  // meaningful at epsilon = infinity
  // The optimizer that the method brings, or one that takes as much memory. Empty: the panel's.
  std::string optimizer = {};
  // The reason that the method cannot have Cell::noise_multiplier instead of epsilon, as it follows
  // "because it ", such as "divides epsilon between gradients and losses". Empty: it can.
  std::string needs_epsilon = {};
  // The reason that RDP alone can set the noise of rows with these resolved options, as it follows
  // "because ". Empty, or an empty answer: PLD can, too.
  std::function<std::string(const json::object& options)> needs_rdp = {};
  // True if runs with these resolved options release noised validation scores, by which the method
  // chooses. A score's noise hides one prediction a record, so data with many predictions a record
  // are refused (runner/spec). Empty: they release none.
  std::function<bool(const json::object& options)> releases_scores = {};
  // True if its runs release losses of learning-rate probes, computed in `train.probe_precision`.
  bool probes = false;
  // An error for resolved options that contradict each other, or for one that the others leave
  // unread. Empty if the options' own checks (OptionSpec::read_with) suffice.
  std::function<Result<void>(const json::object& options)> check = {};
  // True if it asks for all its runs before any has ended, so that what a seed costs is known
  // before it begins.
  bool single_round = false;
  // True for private selection: the number of runs and the losing ones are not released.
  bool confidential_runs = false;
  // The cost of the cell's selection, base included, if `confidential_runs`. It is known before
  // anything runs; an error if the cell is infeasible. The runner records it when the study opens,
  // so that a selection without a conclusion is priced as a selection too: pricing its runs one by
  // one would reveal their number.
  std::function<Result<accounting::Selection>(const Cell&)> selection = {};
  // If an option decides how runs compose (`tuning` of search.h): the method for these resolved
  // options, with its label and confidentiality. The registry's entry is the method for the
  // defaults. Called through reading_of.
  std::function<const Baseline&(const json::object& options)> reading = {};
  std::vector<OptionSpec> options;
  std::function<Result<std::vector<trial::TrialConfig>>(const Cell&, std::span<const FinishedTrial>)> next;
  std::function<Result<Conclusion>(const Cell&, std::span<const FinishedTrial>)> conclude;
};

// The method for a cell with these resolved options; it lives as long as `entry`.
const Baseline& reading_of(const Baseline& entry, const json::object& options);

// The option of a method that brings its own accountant.
struct AccountantOption {
  std::string accountant = "auto";  // the panel's
};
BOOST_DESCRIBE_STRUCT(AccountantOption, (), (accountant))

// The accountant that sets the noise of a row of `method` with these resolved options: the one of
// the method's own option `accountant` (auto: none), else `asked`, the panel's (empty: none), else
// PLD, or RDP where it alone can. An error where PLD is asked for and cannot.
Result<std::string> noise_accountant(const Baseline& method, const json::object& options,
                                     const std::string& asked);

const std::vector<Baseline>& registry();
Result<const Baseline*> find_baseline(const std::string& name);

// Uniform in [0, 1), keyed by the draw_secret (or the noise_seed, or else a fixed public text) and
// by panel, row, epsilon, seed, `what` and `index`.
double draw(const Cell& cell, const std::string& what, std::int64_t index);

}  // namespace hyfreedp::baselines
