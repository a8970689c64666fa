#include "baselines/linear_scaling.h"

#include <cmath>
#include <fmt/format.h>

#include "baselines/linear_rule.h"
#include "baselines/support.h"
#include "harness/base/text.h"

namespace hyfreedp::baselines {
namespace {

using Configs = std::vector<trial::TrialConfig>;
namespace rule = linear_rule;

struct Settings {
  rule::Space space;
  std::int64_t n = 3;
  bool narrowed = true;
  bool logarithmic = false;
  bool over_mu = false;
  double momentum = 0.9;
  double score_noise = 30;
  double epsilon1 = 0;
  double epsilon2 = 0;
  rule::Budget budget;
};

// The grids of the authors' script: learning rates .15 decades apart up to eta_max, lengths 5 apart.
void fill_grids(rule::Space& space) {
  for (int i = 0; space.eta_min * std::pow(10, 0.15 * i) < space.eta_max * (1 - 1e-9); ++i) {
    space.eta_grid.push_back(space.eta_min * std::pow(10, 0.15 * i));
  }
  space.eta_grid.push_back(space.eta_max);
  for (auto steps = space.t_min; steps <= space.t_max; steps += 5) space.t_grid.push_back(steps);
}

// mu of the score releases: each is a Gaussian of sensitivity one count.
Result<void> check_scores(const Settings& settings, double epsilon, double delta) {
  const double mu = std::sqrt(2.0 * static_cast<double>(settings.n)) / settings.score_noise;
  const auto cost = accounting::gdp_epsilon(mu, delta);
  if (!cost) return cost.error();
  if (*cost <= epsilon) return {};
  return error(fmt::format("The validation scores alone cost epsilon {} of {}; raise 'score_noise'.",
                           short_number(*cost), epsilon));
}

// The panel's plan on full batches. A clip count's noise stays the share of the batch that it was.
trial::PrivacyPlan full_batch_plan(const Cell& cell) {
  auto privacy = cell.base.privacy;
  const double batch_size = privacy.batch_size;
  privacy.sampler = trial::Sampler::full_batch;
  privacy.sample_rate = 1;
  privacy.batch_size = static_cast<double>(privacy.population);
  if (privacy.adaptive) privacy.adaptive->count_noise *= privacy.batch_size / batch_size;
  return privacy;
}

// Above the exact value by more than rounding, so that the composed epsilon never passes its target. An error where the
// clip counts of adaptive clipping leave nothing for the gradients.
Result<double> run_noise(const Cell& cell, std::int64_t steps, double mu) {
  return full_batch_plan(cell).gradient_noise_for(rule::sigma(steps, mu) * (1 + 1e-12));
}

Result<Settings> settings_of(const Cell& cell) {
  const auto& options = cell.options;
  Settings settings;
  settings.n = int_or(options, "runs_per_sweep", 3);
  settings.narrowed = string_or(options, "range", "narrowed") == "narrowed";
  settings.logarithmic = string_or(options, "r_sampling", "uniform") == "log-uniform";
  settings.over_mu = string_or(options, "axis", "epsilon") == "mu";
  settings.momentum = double_or(options, "momentum", 0.9);
  settings.score_noise = double_or(options, "score_noise", 30);
  settings.epsilon1 = double_or(options, "share1", 0.1) * *cell.epsilon;
  settings.epsilon2 = double_or(options, "share2", 0.2) * *cell.epsilon;
  auto& space = settings.space;
  space.eta_min = double_or(options, "eta_min", 0.01);
  space.eta_max = double_or(options, "eta_max", 3.2);
  space.t_min = int_or(options, "t_min", 20);
  space.t_max = int_or(options, "t_max", 100);
  space.r_cap = double_or(options, "r_max", 64);
  space.tolerance = double_or(options, "tolerance", 0.05);
  space.max_tries = int_or(options, "max_tries", 1000);
  if (string_or(options, "decompose", "uniform-t") == "rejection")
    space.decompose = rule::Decompose::rejection;
  fill_grids(space);
  const auto budget =
      rule::split_total(*cell.epsilon, cell.delta, settings.n, settings.epsilon1, settings.epsilon2);
  if (!budget) return budget.error();
  settings.budget = *budget;
  for (const double mu : {budget->mu1, budget->mu2, budget->mu_final}) {
    if (auto noise = run_noise(cell, space.t_max, mu); !noise) return noise.error();
  }
  if (auto checked = check_scores(settings, *cell.epsilon, cell.delta); !checked) return checked.error();
  return settings;
}

// Where the options contradict each other there is nothing to search: an empty grid.
bool empty_space(const Cell& cell) {
  const auto& options = cell.options;
  const double eta_min = double_or(options, "eta_min", 0.01);
  const auto t_min = int_or(options, "t_min", 20);
  return eta_min > double_or(options, "eta_max", 3.2) || t_min > int_or(options, "t_max", 100) ||
         eta_min * static_cast<double>(t_min) > double_or(options, "r_max", 64);
}

std::function<double()> draws_of(const Cell& cell, std::string what) {
  return [&cell, what = std::move(what), index = std::int64_t{0}]() mutable {
    return draw(cell, what, index++);
  };
}

trial::TrialConfig full_batch_run(const Cell& cell, const Settings& settings, const rule::Run& run,
                                  double mu) {
  auto config = at_rate(cell, 0, run.eta);
  config.steps = run.steps;
  config.optimizer = optimizer("sgd", {{"momentum", settings.momentum}});
  config.privacy = full_batch_plan(cell);
  config.privacy.gradient_noise = run_noise(cell, run.steps, mu).value();  // settings_of has asked
  return config;
}

struct Sweep {
  std::vector<rule::Run> runs;
  Configs configs;
};

Sweep sweep(const Cell& cell, const Settings& settings, const std::string& name, const rule::Range& range,
            double mu) {
  Sweep result;
  for (std::int64_t i = 0; i < settings.n; ++i) {
    const double r = rule::sample(range, settings.logarithmic, draw(cell, name + " r", i));
    result.runs.push_back(
        rule::decompose(settings.space, r, draws_of(cell, fmt::format("{} split {}", name, i))));
    result.configs.push_back(full_batch_run(cell, settings, result.runs.back(), mu));
    result.configs.back().evaluation.score = trial::ScoreRelease{settings.score_noise};
  }
  return result;
}

// r of the sweep's best-scored run; empty when a run is missing or none has a score.
std::optional<double> best_r(const Sweep& sweep, Finished finished) {
  if (!unfinished(sweep.configs, finished).empty()) return std::nullopt;
  const auto* best = best_of(sweep.configs, finished, released_score);
  if (best == nullptr) return std::nullopt;
  for (std::size_t i = 0; i < sweep.configs.size(); ++i) {
    if (sweep.configs[i].id() == best->id) return sweep.runs[i].r;
  }
  return std::nullopt;
}

// As far as the finished runs allow: the runs wanted so far, in order, and the final one once it is known.
struct Progress {
  Configs configs;
  std::optional<rule::Run> final_run;
};

Progress progress(const Cell& cell, const Settings& settings, Finished finished) {
  Progress state;
  const auto& budget = settings.budget;
  const auto append = [&](Sweep& stage) {
    Configs all = state.configs;
    all.insert(all.end(), stage.configs.begin(), stage.configs.end());
    make_independent(all);
    stage.configs.assign(all.begin() + static_cast<std::ptrdiff_t>(state.configs.size()), all.end());
    state.configs = std::move(all);
  };
  auto first =
      sweep(cell, settings, "first sweep", rule::first_range(settings.space, settings.narrowed), budget.mu1);
  append(first);
  const auto r1 = best_r(first, finished);
  if (!r1) return state;
  auto second = sweep(cell, settings, "second sweep",
                      rule::second_range(settings.space, settings.narrowed, *r1), budget.mu2);
  append(second);
  const auto r2 = best_r(second, finished);
  if (!r2) return state;
  const auto line = settings.over_mu ? rule::line_through(budget.mu1, *r1, budget.mu2, *r2)
                                     : rule::line_through(settings.epsilon1, *r1, settings.epsilon2, *r2);
  const double r = line.at(settings.over_mu ? budget.mu_final : budget.epsilon_final);
  state.final_run = rule::decompose(settings.space, r, draws_of(cell, "final split"));
  state.configs.push_back(full_batch_run(cell, settings, *state.final_run, budget.mu_final));
  return state;
}

Result<Configs> next(const Cell& cell, Finished finished) {
  if (empty_space(cell)) return Configs{};
  const auto settings = settings_of(cell);
  if (!settings) return Configs{};
  return unfinished(progress(cell, *settings, finished).configs, finished);
}

void describe_clamp(const rule::Run& run, Conclusion& conclusion) {
  if (run.clamp == "none") return;
  const bool capped = run.clamp == "capped_r_max";
  conclusion.flags.push_back(capped ? "r capped at r_max" : "r floored at r_min");
  conclusion.footnotes.push_back(
      capped ? "The line's learning rate times steps exceeds the search range; its upper corner was run."
             : "The line's learning rate times steps lies below the search range; its lower corner was run.");
}

Result<Conclusion> conclude(const Cell& cell, Finished finished) {
  if (empty_space(cell)) {
    return failed("empty-grid", "The search range of eta, T and r is empty: a minimum exceeds its maximum.");
  }
  const auto settings = settings_of(cell);
  if (!settings) return infeasible(settings.error());
  const auto state = progress(cell, *settings, finished);
  if (!state.final_run) return all_failed(state.configs, finished);
  const auto* reported = find_finished(finished, state.configs.back());
  if (reported == nullptr) return error("the final run " + state.configs.back().id() + " has not finished");
  Conclusion conclusion;
  conclusion.composition.rule = Composition::Rule::sum;
  for (const auto& config : state.configs) conclusion.composition.trials.push_back(config.id());
  describe_clamp(*state.final_run, conclusion);
  if (reported->failed) {
    conclusion.failure =
        Failure{reported->failure_kind, "The final run failed: " + reported->failure_kind + "."};
  } else {
    conclusion.reported_trial = reported->id;
  }
  return conclusion;
}

}  // namespace

Baseline linear_scaling() {
  return {
      .name = "linear-scaling",
      .title = "Linear scaling",
      .source = "Panda et al., ICML 2024, algorithms 1-3",
      .summary = "Learning rate times steps from a line through two private sweeps; all runs are charged.",
      .has_non_private_arm = false,
      .options = {integer_option("runs_per_sweep", 3, 1, 100, "n"),
                  real_option("share1", 0.1, 1e-6, 1, "epsilon of a first-sweep run, over the target"),
                  real_option("share2", 0.2, 1e-6, 1, "epsilon of a second-sweep run, over the target"),
                  choice_option("range", {"narrowed", "full"}, "of r: as the authors' script, or all of it"),
                  choice_option("r_sampling", {"uniform", "log-uniform"}, "of r in its range"),
                  choice_option("axis", {"epsilon", "mu"}, "what the line of r is drawn over"),
                  choice_option("decompose", {"uniform-t", "rejection"}, "r into learning rate and steps"),
                  real_option("eta_min", 0.01, 1e-12, 1e6, "smallest learning rate"),
                  real_option("eta_max", 3.2, 1e-12, 1e6, "largest learning rate"),
                  integer_option("t_min", 20, 1, 1e9, "fewest steps"),
                  integer_option("t_max", 100, 1, 1e9, "most steps"),
                  real_option("r_max", 64, 1e-12, 1e12, "largest r; never above eta_max t_max"),
                  real_option("tolerance", 0.05, 1e-6, 1, "rejection: relative distance from r accepted"),
                  integer_option("max_tries", 1000, 1, 1e6, "rejection: draws before the nearest grid point"),
                  real_option("momentum", 0.9, 0, 0.9999, "of SGD"),
                  real_option("score_noise", 30, 1e-6, 1e9, "of each validation score",
                              "sd in counts of correct examples")},
      .next = next,
      .conclude = conclude};
}

}  // namespace hyfreedp::baselines
