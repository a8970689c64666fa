#include "baselines/linear_scaling.h"

#include <fmt/format.h>

#include "baselines/linear_settings.h"
#include "baselines/support.h"
#include "harness/base/text.h"
#include "harness/mechanism/set_optimizer.h"
#include "optimizers/facts.h"

namespace hyfreedp::baselines {
namespace {

using Configs = std::vector<trial::TrialConfig>;
using namespace linear_search;
namespace rule = linear_rule;

std::function<double()> draws_of(const Cell& cell, std::string what) {
  return [&cell, what = std::move(what), index = std::int64_t{0}]() mutable {
    return draw(cell, what, index++);
  };
}

// SGD with the method's own options, or DP-ZO with them where the panel trains with it.
trial::Named optimizer_of(const Cell& cell, const Settings& settings) {
  const auto& panels = cell.base.optimizer;
  if (!optimizers::find_optimizer(panels.name).value()->of_loss_changes) {
    return optimizer("sgd", settings.sgd);
  }
  auto options = panels.options;
  for (const auto& own : settings.sgd) options[own.key()] = own.value();
  return optimizer(panels.name, options);
}

trial::TrialConfig config_of(const Cell& cell, const Settings& settings, Place place, const rule::Run& run,
                             double mu) {
  const auto privacy = linear_search::plan_of(cell, settings, place, run.steps, mu);
  // r = eta T B C with eta on summed gradients: the trainer's mean gradient takes eta B, which is
  // eta' / C of r = eta' T.
  const double rate =
      settings.options.product == Product::eta_t_b_c ? run.eta / privacy.clipping.sensitivity() : run.eta;
  auto config = at_rate(cell, 0, rate);
  config.steps = run.steps;
  config.privacy = privacy;
  mechanism::set_optimizer(config, optimizer_of(cell, settings));
  if (settings.options.head == Head::zero) {
    config.model.options[config.model.name == "mlp" ? "last_layer" : "init"] = "zero";
  }
  return config;
}

struct Sweep {
  std::vector<rule::Run> runs;
  Configs configs;
};

Sweep sweep(const Cell& cell, const Settings& settings, std::size_t stage, const rule::Range& range) {
  const auto name = linear_search::stage_name(settings, stage);
  const auto drawn = linear_search::searched_cell(cell);
  const auto& options = settings.options;
  const bool logarithmic = options.r_sampling == Sampling::log_uniform;
  Sweep result;
  for (std::int64_t i = 0; i < settings.options.runs_per_sweep; ++i) {
    const double r = rule::sample(range, logarithmic, draw(drawn, name + " r", i));
    const auto draws = draws_of(drawn, fmt::format("{} split {}", name, i));
    result.runs.push_back(options.decompose == Split::uniform_both
                              ? rule::draw_both(settings.space, draws)
                              : rule::decompose(settings.space, r, draws));
    result.configs.push_back(
        config_of(cell, settings, {stage, i}, result.runs.back(), settings.budget.mu[stage]));
    auto& evaluation = result.configs.back().evaluation;
    if (options.score == Pick::train_unpriced) {
      evaluation.oracle_train = true;
    } else {
      evaluation.score = options.scores.release();
    }
  }
  return result;
}

rule::Range range_of(const Settings& settings, std::size_t stage, double best_before) {
  const bool narrowed = settings.options.range == RangeOfR::narrowed;
  if (stage == 0) return rule::first_range(settings.space, narrowed);
  if (stage == 1) return rule::second_range(settings.space, narrowed, best_before);
  return rule::third_range(settings.space, narrowed, best_before);
}

// r of the sweep's best-scored run; empty when a run is missing or none has a score.
std::optional<double> best_r(const Settings& settings, const Sweep& sweep, Finished finished) {
  if (!unfinished(sweep.configs, finished).empty()) return std::nullopt;
  const bool unpriced = settings.options.score == Pick::train_unpriced;
  const auto score =
      unpriced ? [](const FinishedTrial& trial) { return trial.oracle_train; } : released_score;
  const auto* best = best_of(sweep.configs, finished, score);
  if (best == nullptr) return std::nullopt;
  for (std::size_t i = 0; i < sweep.configs.size(); ++i) {
    if (sweep.configs[i].id() == best->id) return sweep.runs[i].r;
  }
  return std::nullopt;
}

// The state of the search after the finished runs: the runs wanted so far, in order, and the final
// one once it is known.
struct Progress {
  Configs configs;
  int clamped = 0;  // sweep runs
  std::optional<rule::Run> final_run;
  // The runs that would have followed, if the search ends because a sweep has none to report.
  Configs rest;
};

// The runs after `stage`, whatever their r: on full batches what a run costs does not depend on it,
// and on sampled ones T is fixed.
Configs runs_after(const Cell& cell, const Settings& settings, std::size_t stage, double r) {
  Configs rest;
  for (auto later = stage + 1; later < settings.epsilons.size(); ++later) {
    auto runs = sweep(cell, settings, later, range_of(settings, later, r));
    rest.insert(rest.end(), runs.configs.begin(), runs.configs.end());
  }
  const auto last = rule::decompose(settings.space, r, draws_of(cell, "final split"));
  rest.push_back(config_of(cell, settings, {settings.epsilons.size(), 0}, last, settings.budget.mu_final));
  return rest;
}

Progress progress(const Cell& cell, const Settings& settings, Finished finished) {
  Progress state;
  const auto append = [&](Sweep& stage) {
    Configs all = state.configs;
    all.insert(all.end(), stage.configs.begin(), stage.configs.end());
    make_independent(all);
    stage.configs.assign(all.begin() + static_cast<std::ptrdiff_t>(state.configs.size()), all.end());
    state.configs = std::move(all);
    for (const auto& run : stage.runs) state.clamped += run.clamp != "none";
  };
  std::vector<rule::Point> points;
  for (std::size_t stage = 0; stage < settings.epsilons.size(); ++stage) {
    auto runs = sweep(cell, settings, stage, range_of(settings, stage, stage == 0 ? 0 : points.back().r));
    append(runs);
    const auto best = best_r(settings, runs, finished);
    if (!best) {
      if (unfinished(runs.configs, finished).empty()) {
        state.rest = runs_after(cell, settings, stage, runs.runs.front().r);
      }
      return state;
    }
    points.push_back({settings.axis_of(stage), *best});
  }
  const auto fit = settings.options.fit == FitOfR::quadratic ? rule::Fit::quadratic : rule::Fit::line;
  const double r = rule::extrapolate(fit, points, settings.final_axis());
  const Place place{settings.epsilons.size(), 0};
  state.final_run = rule::decompose(settings.space, r, draws_of(cell, "final split"));
  state.configs.push_back(config_of(cell, settings, place, *state.final_run, settings.budget.mu_final));
  return state;
}

Result<Configs> next(const Cell& cell, Finished finished) {
  if (linear_search::conflict(cell)) return Configs{};
  const auto settings = linear_search::settings_of(cell);
  if (!settings) return Configs{};
  return unfinished(progress(cell, *settings, finished).configs, finished);
}

void describe_clamp(const Progress& state, Conclusion& conclusion) {
  const auto say = [&](std::string flag, std::string footnote) {
    conclusion.flags.push_back(std::move(flag));
    conclusion.footnotes.push_back(std::move(footnote));
  };
  const auto& clamp = state.final_run->clamp;
  if (clamp == "capped_r_max") {
    say("r capped at r_max",
        "The line's learning rate times steps exceeds the search range; its upper corner was run.");
  } else if (clamp == "floored_r_min") {
    say("r floored at r_min",
        "The line's learning rate times steps lies below the search range; its lower corner was run.");
  }
  if (state.clamped > 0) {
    say("sweep draws capped at r_max",
        "Draws of a sweep were outside the search range of learning rate times steps; they were moved to its "
        "edge.");
  }
}

void describe_product(const Settings& settings, const trial::TrialConfig& last, Conclusion& conclusion) {
  if (settings.options.product != Product::eta_t_b_c) return;
  const auto& plan = last.privacy;
  conclusion.footnotes.push_back(
      fmt::format("The search is over r = eta T B C; a final run has B = {} and C = {}.",
                  short_number(plan.batch_size), short_number(plan.clipping.sensitivity())));
}

void describe_pick(const Settings& settings, Conclusion& conclusion) {
  if (settings.options.score != Pick::train_unpriced) return;
  conclusion.label = Label::oracle;
  conclusion.flags.push_back("picked by un-noised training accuracy");
  conclusion.footnotes.push_back(
      "As printed in the paper, each sweep's best run was picked by un-noised training accuracy; its epsilon "
      "prices "
      "the runs and leaves the picks out.");
}

Result<Conclusion> conclude(const Cell& cell, Finished finished) {
  if (const auto wrong = linear_search::conflict(cell)) return failed(wrong->kind, wrong->message);
  const auto settings = linear_search::settings_of(cell);
  if (!settings) return infeasible(settings.error());
  const auto state = progress(cell, *settings, finished);
  if (!state.final_run) {
    auto conclusion = all_failed(state.configs, finished, state.rest);
    describe_pick(*settings, conclusion);
    return conclusion;
  }
  const auto* reported = find_finished(finished, state.configs.back());
  if (reported == nullptr) return error("the final run " + state.configs.back().id() + " has not finished");
  Conclusion conclusion;
  conclusion.composition.rule = Composition::Rule::sum;
  for (const auto& config : state.configs) conclusion.composition.trials.push_back(config.id());
  describe_clamp(state, conclusion);
  describe_product(*settings, state.configs.back(), conclusion);
  describe_pick(*settings, conclusion);
  report_final(*reported, conclusion);
  return conclusion;
}

Baseline described() {
  return {.name = "linear-scaling",
          .title = "Linear scaling",
          .source = "Panda et al., ICML 2024, algorithms 1-3",
          .summary = "Learning rate times steps from a line through private sweeps; all runs are charged.",
          .has_non_private_arm = false,
          .needs_epsilon = "divides epsilon among its sweeps and its last run",
          .releases_scores = [](const json::object& options) { return !linear_search::is_unpriced(options); },
          .check = linear_search::check_shares,
          .options = linear_search::option_table(),
          .next = next,
          .conclude = conclude};
}

}  // namespace

// The unpriced pick makes an oracle of the row from the start: open, lost and infeasible ones too.
Baseline linear_scaling() {
  auto baseline = described();
  auto oracle = baseline;
  oracle.label = Label::oracle;
  baseline.reading = [priced = baseline, oracle](const json::object& options) -> const Baseline& {
    return linear_search::is_unpriced(options) ? oracle : priced;
  };
  return baseline;
}

}  // namespace hyfreedp::baselines
