#include "baselines/private_probe.h"

#include <algorithm>
#include <fmt/format.h>

#include "baselines/calibrations.h"
#include "baselines/support.h"
#include "harness/mechanism/probe_split.h"
#include "optimizers/facts.h"

namespace hyfreedp::baselines {

template <>
struct KeyOf<mechanism::ProbeSplitRequest> {
  static json::value of(const mechanism::ProbeSplitRequest& request) {
    const auto& [plan, steps, gamma, epsilon, delta, mode, accountant, orders] = request;
    return key_of_members(plan, steps, gamma, epsilon, delta, mechanism::to_string(mode), accountant, orders);
  }
};

namespace {

bool as_published(const ProbingOptions& options) { return options.accounting.starts_with("paper"); }

// Laplace noise on the losses of all records: no accountant here folds several Laplace releases of
// a sampled batch.
bool has_laplace_losses(const ProbingOptions& options) { return options.accounting == "laplace"; }

double probe_rate(const Cell& cell, const ProbingOptions& options, bool separate) {
  if (has_laplace_losses(options)) return 1;
  const double gradient = cell.base.privacy.sample_rate;
  if (!separate) return gradient;
  const double given = options.probe_sample_rate;
  return given > 0 ? given : std::min(1.0, options.probe_ratio * gradient);
}

// `plan`: the cell's with its probe.
Result<mechanism::ProbeSplit> split(const Cell& cell, const ProbingOptions& options,
                                    const trial::PrivacyPlan& plan, double epsilon) {
  const auto mode =
      mechanism::probe_accounting_from(has_laplace_losses(options) ? "separate-batch" : options.accounting);
  if (!mode) return mode.error();
  const mechanism::ProbeSplitRequest request{.plan = same_price(plan),
                                             .steps = cell.base.steps,
                                             .gamma = options.gamma,
                                             .epsilon = epsilon,
                                             .delta = cell.delta,
                                             .mode = *mode,
                                             .accountant = cell.accountant};
  return calibrated(cell, mechanism::split_budget, request);
}

// Decay of the method's exponential average of the weights, over a public part of the steps; none
// where the cell or its optimizer has an average of its own, or where the optimizer takes a step
// more after the last, of which the average would have nothing.
std::optional<double> average_decay(const Cell& cell, const ProbingOptions& options) {
  const auto& base = cell.base;
  const double steps = options.average_part * static_cast<double>(base.steps);
  const auto end = read_options<optimizers::EndOptions>(base.optimizer.options);
  const bool has_own = base.training.average != trial::Average::none || end.average || end.free_step;
  if (!(steps > 1) || has_own) return std::nullopt;
  return 1 - 1 / steps;
}

Result<trial::TrialConfig> probing_trial(const Cell& cell, const std::string& controller_name) {
  trial::TrialConfig config = cell.base;
  const auto& table = optimizers::find_controller(controller_name).value()->options;
  config.controller = controller(controller_name, subset(cell.options, table));
  const auto probe = read_options<optimizers::ProbeOptions>(cell.options);
  const auto options = read_options<ProbingOptions>(cell.options);
  const bool separate = options.accounting == "separate-batch" || has_laplace_losses(options);
  const double rate = probe_rate(cell, options, separate);
  auto& privacy = config.privacy;
  privacy.probe = trial::ProbePlan{
      .separate_batch = separate,
      .sample_rate = rate,
      .batch_size = separate ? rate * static_cast<double>(privacy.population) : privacy.batch_size,
      .noise = 0,
      .distribution = has_laplace_losses(options) ? accounting::Noise::laplace : accounting::Noise::gaussian,
      .points = static_cast<int>(1 + 2 * probe.pairs),
      .interval = probe.interval};
  if (const auto decay = average_decay(cell, options)) {
    config.training.average = trial::Average::ema;
    config.training.average_decay = *decay;
  }
  if (!cell.epsilon) return config;
  const auto budget = split(cell, options, privacy, *cell.epsilon);
  if (!budget) return budget.error();
  privacy.gradient_noise = budget->sigma_g;
  privacy.probe->noise = budget->sigma_l;
  privacy.accounting = options.accounting;
  return config;
}

void describe(const Cell& cell, Conclusion& conclusion) {
  const auto options = read_options<ProbingOptions>(cell.options);
  if (average_decay(cell, options)) {
    conclusion.footnotes.push_back("Part of the method: evaluated at an exponential average of its weights.");
  }
  if (!cell.epsilon || !as_published(options)) return;
  conclusion.claimed_epsilon = cell.epsilon;
  conclusion.flags.push_back(
      options.accounting == "paper" ? kUnderstated : "paper appendix accounting: a 2 delta statement");
  conclusion.footnotes.push_back(
      "Noise as the paper sets it: probes and gradients of one batch are priced as if each had its own "
      "batch. The "
      "claimed epsilon is the target; the one printed is derived from the executed events.");
}

// Adds that the option is read only if a probe has a batch of its own, sampled at a rate.
OptionSpec with_batch_of_its_own(OptionSpec option) {
  return only_with("accounting", "separate-batch", std::move(option));
}

// Refuses probe_ratio with probe_sample_rate: each alone sets the size of a probe's own batch.
Result<void> check_own_batch(const ProbingOptions& options, double default_ratio) {
  if (options.probe_sample_rate == 0 || options.probe_ratio == default_ratio) return {};
  return error("'probe_ratio' is not read with 'probe_sample_rate'; leave one of them out.");
}

std::vector<OptionSpec> probing_options(const std::vector<std::string>& pricing,
                                        const ProbingOptions& defaults) {
  const bool has_ratio = defaults.probe_ratio != 1;
  std::vector<OptionSpec> table = {
      {.name = "accounting",
       .help = "how probes and gradients share the budget; see private_probe.h",
       .choices = pricing},
      {.name = "accountant",
       .help = "that sets the noise, in place of the panel's; auto: the panel's",
       .choices = {"auto", "pld", "rdp"}},
      ranged_option("gamma", 1.0001, 100, "sigma_g over the noise without probes"),
      with_batch_of_its_own(
          ranged_option("probe_sample_rate", 0, 1,
                        has_ratio ? "of a separate probe batch; 0: probe_ratio times the gradient's"
                                  : "of a separate probe batch; 0: that of the gradient"))};
  if (has_ratio) {
    table.push_back(with_batch_of_its_own(
        ranged_option("probe_ratio", 0.01, 1000, "a separate probe batch over the gradient's batch")));
  }
  if (defaults.average_part > 0) {
    table.push_back(ranged_option("average_part", 0, 1,
                                  "evaluated at an exponential average of the weights over this part "
                                  "of the steps; 0: at the weights"));
  }
  return options_of(std::move(table), defaults);
}

}  // namespace

void run_probing_controller(Baseline& baseline, const std::string& controller_name,
                            const std::vector<std::string>& pricing, ProbingOptions defaults,
                            const std::string& footnote) {
  defaults.accounting = pricing.front();
  baseline.options = probing_options(pricing, defaults);
  const auto& facts = *optimizers::find_controller(controller_name).value();
  baseline.probes = true;
  baseline.options.insert(baseline.options.end(), facts.options.begin(), facts.options.end());
  baseline.check = [check = facts.check,
                    ratio = defaults.probe_ratio](const json::object& options) -> Result<void> {
    if (auto own = check_own_batch(read_options<ProbingOptions>(options), ratio); !own) return own;
    return check(options);
  };
  baseline.needs_epsilon = "divides epsilon between gradients and losses";
  baseline.needs_rdp = [](const json::object& resolved) -> std::string {
    const auto options = read_options<ProbingOptions>(resolved);
    if (!as_published(options)) return "";
    return fmt::format("'accounting: {}' is the division as published, by RDP", options.accounting);
  };
  make_single_run(
      baseline, [controller_name](const Cell& cell) { return probing_trial(cell, controller_name); },
      [footnote](const Cell& cell, Conclusion& conclusion) {
        if (!footnote.empty()) conclusion.footnotes.push_back(footnote);
        describe(cell, conclusion);
      });
}

}  // namespace hyfreedp::baselines
