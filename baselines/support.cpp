#include "baselines/support.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "baselines/calibrations.h"
#include "harness/base/text.h"
#include "harness/mechanism/releases.h"
#include "optimizers/facts.h"

namespace hyfreedp::baselines {
namespace {

// A resolved object cannot fail its own table; value() throws where the program itself is wrong.
trial::Named resolved(const optimizers::Facts& facts, const json::object& given) {
  return {facts.name, resolve_options(facts.options, given, facts.name).value()};
}

// The number of releases that `plan` makes before step 0.
std::int64_t releases_before(const trial::PrivacyPlan& plan) {
  const auto list = mechanism::releases(plan);
  return std::count_if(list.begin(), list.end(), [](const mechanism::Release& release) {
    return release.schedule.when == mechanism::Schedule::When::before;
  });
}

// noise_for, of a plan whose steps are not all that it releases.
Result<double> noise_beside_others(const trial::PrivacyPlan& given, const std::int64_t& steps,
                                   const double& epsilon, const double& delta, const std::int64_t& runs,
                                   const std::string& accountant) {
  const auto events_at = [&](double sigma) {
    auto plan = given;
    plan.gradient_noise = sigma;
    accounting::Events events{.events = mechanism::events(plan, 0, steps)};
    // Releases before step 0 come first, and each run makes them.
    for (std::int64_t i = 0; i < releases_before(plan); ++i) {
      std::get<accounting::Batch>(events.events[static_cast<std::size_t>(i)].what).count = runs;
    }
    return events;
  };
  const auto calibration = accounting::calibrate(events_at, epsilon, delta, accountant);
  if (!calibration) return calibration.error();
  return calibration->noise_multiplier;
}

// noise_for, of a plan whose steps are.
Result<double> plain_gaussian(const double& rate, const std::int64_t& steps, const double& epsilon,
                              const double& delta, const std::string& accountant) {
  const auto calibration = accounting::calibrate_gaussian(rate, steps, epsilon, delta, accountant);
  if (!calibration) return calibration.error();
  return calibration->noise_multiplier;
}

}  // namespace

OptionSpec grid_option(std::string name, std::string help) {
  return ranged_option(std::move(name), 1e-12, 1e6, std::move(help));
}

std::vector<OptionSpec> with_default(std::vector<OptionSpec> table, const std::string& name,
                                     json::value value) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const auto& option) { return option.name == name; });
  HYFREEDP_CHECK(found != table.end(), "no option " + name);
  found->default_value = std::move(value);
  return table;
}

json::object subset(const json::object& options, const std::vector<OptionSpec>& table) {
  json::object picked;
  for (const auto& option : table) {
    if (const auto* value = options.if_contains(option.name)) picked[option.name] = *value;
  }
  return picked;
}

trial::Named optimizer(const std::string& name, const json::object& given) {
  return resolved(*optimizers::find_optimizer(name).value(), given);
}

trial::Named controller(const std::string& name, const json::object& given) {
  return resolved(*optimizers::find_controller(name).value(), given);
}

const std::vector<double>& paper_grid() {
  static const std::vector<double> grid = {5e-5, 1e-4, 5e-4, 1e-3, 5e-3};
  return grid;
}

const std::vector<double>& wide_grid() {
  static const std::vector<double> grid = {5e-5, 1e-4, 5e-4, 1e-3, 5e-3, 1e-2, 2e-2, 5e-2};
  return grid;
}

Result<double> noise_for(const Cell& cell, const trial::PrivacyPlan& plan, std::int64_t steps,
                         std::optional<double> epsilon, std::int64_t runs) {
  if (!epsilon) return 0.0;
  if (cell.noise_multiplier) return *cell.noise_multiplier;
  if (releases_before(plan) > 0) {
    return calibrated(cell, noise_beside_others, same_price(plan), steps, *epsilon, cell.delta, runs,
                      cell.accountant);
  }
  const auto sigma =
      calibrated(cell, plain_gaussian, plan.sample_rate, steps, *epsilon, cell.delta, cell.accountant);
  if (!sigma) return sigma.error();
  return mechanism::gradient_noise_for(plan, *sigma);
}

trial::PrivacyPlan same_price(trial::PrivacyPlan plan) {
  plan.clipping.constant = 1;
  return plan;
}

Result<double> plain_noise(const Cell& cell, std::optional<double> epsilon) {
  return noise_for(cell, cell.base.privacy, cell.base.steps, epsilon);
}

double noise_before(const Cell& cell) {
  if (!cell.epsilon) return 0;
  double precision = 0;
  double only = 0;
  std::int64_t count = 0;
  for (const auto& release : mechanism::releases(cell.base.privacy)) {
    if (release.schedule.when != mechanism::Schedule::When::before) continue;
    HYFREEDP_CHECK(release.noise == accounting::Noise::gaussian, "only Gaussian releases add up to one");
    const auto priced = release.priced();
    precision += static_cast<double>(priced.count) / (priced.noise_multiplier * priced.noise_multiplier);
    only = priced.noise_multiplier;
    count += priced.count;
  }
  return count <= 1 ? only : 1 / std::sqrt(precision);
}

trial::TrialConfig at_rate(const Cell& cell, double noise, double rate) {
  trial::TrialConfig config = cell.base;
  config.privacy.gradient_noise = noise;
  config.controller = controller("constant", {{"lr", rate}});
  return config;
}

std::vector<trial::TrialConfig> at_rates(const Cell& cell, const std::vector<double>& rates) {
  std::vector<trial::TrialConfig> configs;
  configs.reserve(rates.size());
  for (const double rate : rates) configs.push_back(at_rate(cell, 0, rate));
  return configs;
}

trial::PrivacyPlan with_threshold(trial::PrivacyPlan plan, double threshold) {
  plan.drop_clipping();
  plan.clipping.rule = trial::ClippingRule::abadi;
  plan.clipping.constant = threshold;
  return plan;
}

trial::PrivacyPlan at_batch_size(trial::PrivacyPlan plan, double batch_size) {
  const auto population = static_cast<double>(plan.population);
  if (plan.clipping.adaptive) plan.clipping.adaptive->count_noise *= batch_size / plan.batch_size;
  plan.sampler = batch_size == population ? trial::Sampler::full_batch : trial::Sampler::poisson;
  plan.sample_rate = batch_size / population;
  plan.batch_size = batch_size;
  return plan;
}

trial::PrivacyPlan on_full_batches(trial::PrivacyPlan plan) {
  const auto population = static_cast<double>(plan.population);
  return at_batch_size(std::move(plan), population);
}

Result<void> check_scores(const Cell& cell, std::int64_t scores, double score_noise) {
  const auto cost = accounting::epsilon_of_mu(std::sqrt(static_cast<double>(scores)) / score_noise,
                                              cell.delta, cell.accountant);
  if (!cost) return cost.error();
  if (*cost <= *cell.epsilon) return {};
  return error(fmt::format("The {} validation scores alone cost epsilon {} of {}; raise 'score_noise'.",
                           scores, short_number(*cost), *cell.epsilon));
}

const FinishedTrial* find_finished(Finished finished, const trial::TrialConfig& config) {
  if (finished.empty()) return nullptr;
  const std::string id = config.id();
  const auto found = std::find_if(finished.begin(), finished.end(),
                                  [&](const FinishedTrial& trial) { return trial.id == id; });
  return found == finished.end() ? nullptr : &*found;
}

std::vector<trial::TrialConfig> unfinished(std::vector<trial::TrialConfig> wanted, Finished finished) {
  std::erase_if(wanted, [&](const auto& config) { return find_finished(finished, config) != nullptr; });
  return wanted;
}

void make_independent(std::vector<trial::TrialConfig>& configs) {
  std::set<std::string> taken;
  for (auto& config : configs) {
    while (!taken.insert(config.id()).second) ++config.repetition;
  }
}

const FinishedTrial* best_of(const std::vector<trial::TrialConfig>& configs, Finished finished,
                             const Score& score) {
  const FinishedTrial* best = nullptr;
  for (const auto& config : configs) {
    const auto* candidate = find_finished(finished, config);
    if (candidate == nullptr || candidate->failed || !score(*candidate)) continue;
    if (best == nullptr || *score(*candidate) > *score(*best)) best = candidate;
  }
  return best;
}

std::optional<double> oracle_score(const FinishedTrial& trial) { return trial.oracle_validation; }
std::optional<double> released_score(const FinishedTrial& trial) { return trial.released_score; }

Composition one_trial(std::string id) {
  return {.rule = Composition::Rule::trial, .trials = {std::move(id)}};
}

Composition no_cost() { return {.rule = Composition::Rule::none}; }

Conclusion failed(std::string kind, std::string message) {
  Conclusion conclusion;
  conclusion.composition = no_cost();
  conclusion.failure = Failure{std::move(kind), std::move(message)};
  return conclusion;
}

Conclusion infeasible(const Error& error) { return failed("infeasible-epsilon", error.message); }

void report_final(const FinishedTrial& last, Conclusion& conclusion) {
  if (last.failed) {
    conclusion.failure = Failure{last.failure_kind, "The final run failed: " + last.failure_kind + "."};
  } else {
    conclusion.reported_trial = last.id;
  }
}

Conclusion all_failed(const std::vector<trial::TrialConfig>& configs, Finished finished,
                      const std::vector<trial::TrialConfig>& rest, const std::string& part) {
  std::set<std::string> kinds;
  Composition composition{.rule = Composition::Rule::sum};
  for (const auto& config : configs) {
    const auto* trial = find_finished(finished, config);
    if (trial == nullptr) continue;
    kinds.insert(trial->failed ? trial->failure_kind : "no score");
    composition.trials.push_back(trial->id);
  }
  auto conclusion =
      failed("all-trials-failed", fmt::format("None of the {} runs can be reported ({}).", configs.size(),
                                              join({kinds.begin(), kinds.end()}, ", ")));
  for (const auto& config : rest) composition.not_begun.push_back({mechanism::events(config), part});
  conclusion.composition = std::move(composition);
  if (!rest.empty()) {
    conclusion.footnotes.emplace_back(
        "The search ended early, which follows from the data, so the whole search that was planned is "
        "charged.");
  }
  return conclusion;
}

void make_single_run(Baseline& baseline, const MakeTrial& make, const Describe& describe) {
  const Label label = baseline.label;
  baseline.single_round = true;
  baseline.next = [make](const Cell& cell, Finished finished) -> Result<std::vector<trial::TrialConfig>> {
    auto config = make(cell);
    std::vector<trial::TrialConfig> wanted;
    if (config) wanted.push_back(std::move(*config));
    return unfinished(std::move(wanted), finished);
  };
  baseline.conclude = [make, describe, label](const Cell& cell, Finished finished) -> Result<Conclusion> {
    const auto config = make(cell);
    if (!config) return infeasible(config.error());
    const auto* trial = find_finished(finished, *config);
    if (trial == nullptr) return error("the run " + config->id() + " has not finished");
    Conclusion conclusion;
    conclusion.composition = cell.epsilon ? one_trial(trial->id) : no_cost();
    conclusion.label = cell.epsilon ? label : Label::non_private;
    if (trial->failed) {
      const bool diverged = trial->failure_kind == "diverged";
      conclusion.failure =
          Failure{trial->failure_kind, diverged ? "Its weights or a private loss stopped being finite."
                                                : "Its only run ended as " + trial->failure_kind + "."};
    } else {
      conclusion.reported_trial = trial->id;
    }
    if (describe) describe(cell, conclusion);
    return conclusion;
  };
}

}  // namespace hyfreedp::baselines
