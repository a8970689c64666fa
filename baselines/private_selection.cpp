#include "baselines/private_selection.h"

#include <algorithm>
#include <fmt/format.h>

#include "baselines/calibrations.h"
#include "harness/base/text.h"
#include "harness/mechanism/releases.h"
#include "harness/trial/event_tally.h"

namespace hyfreedp::baselines {

template <>
struct KeyOf<SelectionRule> {
  static json::value of(const SelectionRule& rule) {
    const auto& [distribution, mean, score] = rule;
    return key_of_members(static_cast<std::int64_t>(distribution), mean, score.score_noise);
  }
};

namespace {

using Configs = std::vector<trial::TrialConfig>;

Composition selection_over(const SelectionRule& rule, std::vector<std::string> trials) {
  return {.rule = Composition::Rule::selection,
          .trials = std::move(trials),
          .selection = selection_of(rule.distribution, rule.mean)};
}

// The selection over runs of `gradients` and a score.
accounting::Selection intended_selection(const SelectionRule& rule,
                                         std::vector<accounting::Event> gradients) {
  auto selection = selection_of(rule.distribution, rule.mean);
  selection.base = std::move(gradients);
  selection.base.push_back(mechanism::score_event(rule.score.score_noise));
  return selection;
}

accounting::Events intended_events(const SelectionRule& rule, std::vector<accounting::Event> gradients) {
  return {.events = trial::selection_by_split(intended_selection(rule, std::move(gradients)))};
}

// No gradient noise helps where the scores alone exceed the target.
Result<void> check_scores(const SelectionRule& rule, double epsilon, double delta) {
  const auto cost = accounting::epsilon_rdp(intended_events(rule, {}), delta);
  if (!cost) return cost.error();
  if (cost->epsilon <= epsilon) return {};
  return error(
      fmt::format("Selecting by validation scores alone costs epsilon {} of {}; raise 'score_noise'.",
                  short_number(cost->epsilon), epsilon));
}

Result<double> calibrate_selection(const trial::PrivacyPlan& plan, const std::int64_t& steps,
                                   const SelectionRule& rule, const double& epsilon, const double& delta) {
  if (auto checked = check_scores(rule, epsilon, delta); !checked) return checked.error();
  const auto events_at = [&](double sigma) {
    auto noised = plan;
    noised.gradient_noise = sigma;
    return intended_events(rule, mechanism::events(noised, 0, steps));
  };
  const auto calibration = accounting::calibrate(events_at, epsilon, delta, "rdp");
  if (!calibration) return calibration.error();
  return calibration->noise_multiplier;
}

// The events of training with noise multiplier 1 on the gradients, to compare candidates.
trial::EventTally releases_of(const trial::TrialConfig& config) {
  auto plan = config.privacy;
  plan.gradient_noise = 1;
  return trial::EventTally(mechanism::events(plan, 0, config.steps));
}

bool costs_the_same(const trial::EventTally& one, const trial::EventTally& other) {
  return one.contains(other) && other.contains(one);
}

Result<double> noise(const Cell& cell, const SelectionRule& rule, const Configs& candidates) {
  const auto& any = candidates.front();
  const auto releases = releases_of(any);
  HYFREEDP_CHECK(std::ranges::all_of(candidates,
                                     [&](const auto& c) { return costs_the_same(releases_of(c), releases); }),
                 "candidates of one private selection cost the same");
  if (cell.noise_multiplier) return *cell.noise_multiplier;
  return calibrated(cell, calibrate_selection, same_price(any.privacy), any.steps, rule, *cell.epsilon,
                    cell.delta);
}

// The winner's repetition is public (it is in its config and its id), so it must not tell how many
// runs there were:
// a label drawn for each run by itself says nothing of the run's place among them, as a counter
// would.
std::int64_t repetition_of(const Cell& cell, std::int64_t run) {
  return cell.base.repetition + 1 + pick(draw(cell, "label", run), kRepetitionsPerRelease - 2);
}

double parameter_of(const SelectionRule& rule) {
  switch (rule.distribution) {
    case RunCount::geometric:
    case RunCount::liu_talwar:
      return geometric_parameter(rule.mean);
    case RunCount::logarithmic:
      return logarithmic_parameter(rule.mean);
    case RunCount::poisson:
      return rule.mean;
  }
  return rule.mean;
}

}  // namespace

std::vector<OptionSpec> score_options() {
  return {
      ranged_option("score_noise", 1e-6, 1e9, "of each validation score", "sd in counts of correct examples"),
      later_option(ranged_option("score_loss_bound", 0, 1e9,
                                 "R of scores by losses, which language models need: each record counts "
                                 "as 1 - min(loss, R) / R; 0: scores by correct predictions"))};
}

std::vector<OptionSpec> score_options(const std::function<OptionSpec(OptionSpec)>& condition) {
  auto table = score_options();
  for (auto& option : table) option = condition(std::move(option));
  return table;
}

std::vector<OptionSpec> selection_options(bool may_follow) {
  auto table = score_options();
  table.insert(
      table.begin(),
      {plain_option("runs", "distribution of their number; liu-talwar: geometric, priced by theorem 3.4"),
       ranged_option(
           "mean_runs", may_follow ? 0 : 1.001, 1e4,
           may_follow ? "mean number of runs; up to 1: the number of candidates" : "mean number of runs")});
  return table;
}

SelectionRule selection_rule_of(const Cell& cell, std::size_t candidates) {
  const auto options = read_options<SelectionOptions>(cell.options);
  return {
      .distribution = options.runs,
      .mean = options.mean_runs > 1 ? options.mean_runs : std::max(static_cast<double>(candidates), 1.001),
      .score = options.score};
}

Result<accounting::Selection> selection_cost(const Cell& cell, const SelectionRule& rule,
                                             const Configs& candidates) {
  if (candidates.empty()) return error(kEmptyGrid);
  const auto sigma = noise(cell, rule, candidates);
  if (!sigma) return sigma.error();
  auto plan = candidates.front().privacy;
  plan.gradient_noise = *sigma;
  return intended_selection(rule, mechanism::events(plan, 0, candidates.front().steps));
}

Result<Configs> selection_runs(const Cell& cell, const SelectionRule& rule, const Configs& candidates) {
  const auto sigma = noise(cell, rule, candidates);
  if (!sigma) return sigma.error();
  const auto count = run_count(rule.distribution, parameter_of(rule), draw(cell, "run count", 0));
  Configs configs;
  for (std::int64_t run = 0; run < count; ++run) {
    const auto candidate = pick(draw(cell, "candidate", run), static_cast<std::int64_t>(candidates.size()));
    auto config = candidates[static_cast<std::size_t>(candidate)];
    config.privacy.gradient_noise = *sigma;
    config.evaluation.score = rule.score.release();
    config.repetition = repetition_of(cell, run);
    configs.push_back(std::move(config));
  }
  make_independent(configs);  // should two labels be equal
  return configs;
}

Result<Conclusion> conclude_selection(const Cell& cell, const SelectionRule& rule, const Configs& candidates,
                                      Finished finished) {
  const auto wanted = selection_runs(cell, rule, candidates);
  if (!wanted) return infeasible(wanted.error());
  if (wanted->empty()) {
    auto nothing = failed("no-run-drawn",
                          "The drawn number of runs is 0, so nothing is released; that costs what any other "
                          "outcome does.");
    auto booked = selection_cost(cell, rule, candidates);
    if (!booked) return booked.error();
    nothing.composition = {
        .rule = Composition::Rule::selection, .selection = std::move(*booked), .drew_no_run = true};
    return nothing;
  }
  const auto* best = best_of(*wanted, finished, released_score);
  // The number of runs and which of them failed are confidential; the reader learns only that
  // nothing can be reported.
  auto conclusion = best == nullptr ? failed("all-trials-failed", "No run of the selection can be reported.")
                                    : Conclusion{};
  const auto& shown = best == nullptr ? wanted->front().id() : best->id;
  conclusion.composition = selection_over(rule, {shown});
  if (best != nullptr) conclusion.reported_trial = best->id;
  if (!cell.base.noise_seed && !cell.draw_secret)
    conclusion.flags.push_back("selection drawn from a public stream: count not hidden");
  return conclusion;
}

}  // namespace hyfreedp::baselines
