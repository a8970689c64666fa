// Reads and checks the options of the linear scaling search in a cell, and computes the noise of
// each kind of run.
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
#include "baselines/private_selection.h"

namespace hyfreedp::baselines::linear_search {

// The batches on which a run's gradients are computed.
enum class Batch { full, sampled };
BOOST_DESCRIBE_ENUM(Batch, full, sampled)
// The fit of r to the sweeps' best runs: `line` has two sweeps, the others have three.
enum class FitOfR { line, line_3, quadratic };
BOOST_DESCRIBE_ENUM(FitOfR, line, line_3, quadratic)
enum class RangeOfR { narrowed, full };
BOOST_DESCRIBE_ENUM(RangeOfR, narrowed, full)
enum class Sampling { uniform, log_uniform };
BOOST_DESCRIBE_ENUM(Sampling, uniform, log_uniform)
enum class Axis { epsilon, mu };
BOOST_DESCRIBE_ENUM(Axis, epsilon, mu)
// The way to divide r into a learning rate and a number of steps.
enum class Split { uniform_t, rejection, uniform_both, fixed_t, fixed_eta };
BOOST_DESCRIBE_ENUM(Split, uniform_t, rejection, uniform_both, fixed_t, fixed_eta)
enum class Product { eta_t, eta_t_b_c };
BOOST_DESCRIBE_ENUM(Product, eta_t, eta_t_b_c)
enum class Head { panel, zero };
BOOST_DESCRIBE_ENUM(Head, panel, zero)
enum class Pick { released, train_unpriced };
BOOST_DESCRIBE_ENUM(Pick, released, train_unpriced)

struct Options {
  std::int64_t runs_per_sweep = 3;
  double share1 = 0.1, share2 = 0.2, share3 = 0.3;  // epsilon of a sweep's run over the row's
  std::vector<double> sweep_epsilons;               // in place of the shares; empty: the shares
  FitOfR fit = FitOfR::line;
  RangeOfR range = RangeOfR::narrowed;
  Sampling r_sampling = Sampling::uniform;
  Axis axis = Axis::epsilon;
  Split decompose = Split::uniform_t;
  double eta_min = 0.01, eta_max = 3.2;
  std::int64_t t_min = 20, t_max = 100;  // steps
  double r_max = 64;
  double tolerance = 0.05;  // relative
  std::int64_t max_tries = 1000;
  Batch batch = Batch::full;
  Product product = Product::eta_t;
  std::vector<double> batch_sizes, thresholds;  // empty: the panel's
  Head head = Head::panel;
  Pick score = Pick::released;
  double momentum = 0.9;
  bool free_step = false;
  ScoreOptions scores;  // of the sweeps
  static constexpr std::array kInlined = {"scores"};

  // True if all epsilons of the row share one search.
  bool has_one_search() const { return !sweep_epsilons.empty(); }
  std::size_t sweeps() const { return fit == FitOfR::line ? 2 : 3; }
};
BOOST_DESCRIBE_STRUCT(Options, (),
                      (runs_per_sweep, share1, share2, share3, sweep_epsilons, fit, range, r_sampling, axis,
                       decompose, eta_min, eta_max, t_min, t_max, r_max, tolerance, max_tries, batch, product,
                       batch_sizes, thresholds, head, score, momentum, free_step, scores))

struct Settings {
  Options options;
  linear_rule::Space space;
  std::vector<double> epsilons;  // of a run of each sweep
  json::object sgd;              // its options
  linear_rule::Budget budget;    // sampled: the mu that costs what a run costs
  // Sampled: sigma of each run of each stage, the final one last.
  std::vector<std::vector<double>> noise;

  double axis_of(std::size_t sweep) const {
    return options.axis == Axis::mu ? budget.mu[sweep] : epsilons[sweep];
  }
  double final_axis() const { return options.axis == Axis::mu ? budget.mu_final : budget.epsilon_final; }
};

// The place of one run in the search. Sweeps count from 0; the final run has stage
// `epsilons.size()` and index 0.
struct Place {
  std::size_t stage = 0;
  std::int64_t index = 0;
};
std::string stage_name(const Settings& settings, std::size_t stage);  // "first sweep", ..., "final"

// The cell that a sweep's draws are for: without an epsilon where all have one search.
Cell searched_cell(Cell cell);
// True if the best run is picked by un-noised training accuracy.
bool is_unpriced(const json::object& options);
// An error for an option that contradicts another option or the panel, and for an empty range;
// nothing if there is none.
std::optional<Failure> conflict(const Cell& cell);
// Shares of sweeps that the other options leave unread.
Result<void> check_shares(const json::object& resolved);
// Reads the settings; conflict() must have found nothing. An error if the epsilon is infeasible.
Result<Settings> settings_of(const Cell& cell);

// The plan of a run: sampler, B, C, and the noise of `steps` steps; on full batches that of `mu`.
trial::PrivacyPlan plan_of(const Cell& cell, const Settings& settings, Place place, std::int64_t steps,
                           double mu);

std::vector<OptionSpec> option_table();

}  // namespace hyfreedp::baselines::linear_search
