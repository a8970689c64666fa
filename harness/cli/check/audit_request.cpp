#include "harness/cli/check/audit_request.h"

#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <limits>

#include "harness/accounting/accountant.h"
#include "harness/accounting/default_delta.h"
#include "harness/cli/common/accounting_flags.h"
#include "harness/mechanism/probe_split.h"

namespace hyfreedp::cli {
namespace {

constexpr int kLosses = 3;  // of a probe
constexpr std::int64_t kMostSteps = 100'000;
constexpr std::int64_t kMostRuns = 1000;
constexpr std::int64_t kMostRecords = 10'000'000;
constexpr double kStabiliser = 0.01;  // of AUTO-S
constexpr double kThreshold = 1.0;    // of Abadi's clipping

// The setting that is asked for, checked.
struct Setting {
  std::string hyfreedp = "folded";
  double epsilon = 8;
  double delta = 0;
  double sample_rate = 0.02;
  double gamma = 1.01;
  std::int64_t population = 5000;
  std::int64_t interval = 5;
  std::string released = "gradient";
  std::string clipping = "auto-s";
  std::string clipping_groups = "all";
  std::string clipping_shares = "uniform";
  audit::Request request = {.workers = 2, .false_alarm = 1e-4};

  double batch_size() const { return sample_rate * static_cast<double>(population); }
  bool follows_losses() const { return released == "loss-change"; }
  bool has_probes() const { return hyfreedp != "none"; }
  bool separate() const { return hyfreedp == "separate-batch" || is_laplace(); }
  bool is_laplace() const { return hyfreedp == "laplace"; }
};

Result<void> read_choice(const Given& given, const std::vector<std::string>& allowed, std::string& value) {
  if (!given) return {};
  value = *given.text;
  return one_of(given, allowed);
}

Result<void> read_count(const Given& given, std::int64_t largest, std::int64_t& value) {
  if (!given) return {};
  const auto count = count_of(given, largest);
  if (!count) return count.error();
  value = *count;
  return {};
}

Result<void> read_number(const Given& given, double above, double below, double& value) {
  if (!given) return {};
  const auto found = number_of(given);
  if (!found) return found.error();
  if (!(*found > above && *found < below)) {
    const auto range = std::isfinite(below) ? fmt::format("lie in ({}, {})", above, below)
                                            : fmt::format("be above {} and finite", above);
    return error(fmt::format("--{} is {}; it must {}.", given.name, *given.text, range));
  }
  value = *found;
  return {};
}

Result<void> read_canaries(const Given& given, Setting& setting) {
  if (!given) return {};
  const auto canaries = number_of(given);
  if (!canaries) return canaries.error();
  const bool whole = *canaries == std::floor(*canaries);
  if (!whole || !(*canaries >= 0 && *canaries <= static_cast<double>(setting.population))) {
    return error(fmt::format("--canaries is {}; it must be a whole number from 0 to the population, {}.",
                             *given.text, setting.population));
  }
  setting.request.canaries = static_cast<std::int64_t>(*canaries);
  return {};
}

Result<void> read_clipping(const AuditRequest& given, Setting& setting) {
  if (given.clipping && *given.clipping.text == "adaptive") {
    return error(
        "--clipping is adaptive, which cannot be audited, because its threshold changes from step to step. "
        "Audit abadi, which is the same at any single step.");
  }
  if (auto ok = read_choice(given.clipping, {"auto-s", "auto-v", "abadi"}, setting.clipping); !ok) return ok;
  if (auto ok = read_choice(given.clipping_groups, {"all", "per-layer"}, setting.clipping_groups); !ok) {
    return ok;
  }
  if (given.clipping_shares && setting.clipping_groups == "all") {
    return error(
        "--clipping-shares sets each layer's share of the threshold; it needs --clipping-groups per-layer.");
  }
  return read_choice(given.clipping_shares, {"uniform", "size"}, setting.clipping_shares);
}

// Changes of losses have one kind of clipping, and no probes beside them.
Result<void> read_released(const AuditRequest& given, Setting& setting) {
  if (auto ok = read_choice(given.released, {"gradient", "loss-change"}, setting.released); !ok) return ok;
  if (!setting.follows_losses()) return {};
  for (const auto& [one, text, value] :
       {std::tuple<const Given&, const char*, std::string&>{given.hyfreedp, "none", setting.hyfreedp},
        {given.clipping, "abadi", setting.clipping},
        {given.clipping_groups, "all", setting.clipping_groups}}) {
    if (one && value != text) {
      return error(fmt::format("--{} is {}; with --released loss-change it is {}. Leave it out.", one.name,
                               *one.text, text));
    }
    value = text;
  }
  return {};
}

Result<void> read_numbers(const AuditRequest& given, Setting& setting) {
  for (const auto& [one, largest, value] : {std::tuple<const Given&, std::int64_t, std::int64_t&>{
                                                given.population, kMostRecords, setting.population},
                                            {given.steps, kMostSteps, setting.request.steps},
                                            {given.interval, kMostSteps, setting.interval},
                                            {given.runs, kMostRuns, setting.request.runs},
                                            {given.workers, kMostRuns, setting.request.workers}}) {
    if (auto ok = read_count(one, largest, value); !ok) return ok;
  }
  if (auto ok = read_canaries(given.canaries, setting); !ok) return ok;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const auto& [one, above, below, value] :
       {std::tuple<const Given&, double, double, double&>{given.epsilon, 0, kInfinity, setting.epsilon},
        {given.sample_rate, 0, 1, setting.sample_rate},
        {given.gamma, 1, kInfinity, setting.gamma},
        {given.false_alarm, 0, 1, setting.request.false_alarm}}) {
    if (auto ok = read_number(one, above, below, value); !ok) return ok;
  }
  return {};
}

Result<Setting> read_setting(const AuditRequest& given) {
  Setting setting;
  if (auto ok = read_choice(given.hyfreedp, {"folded", "separate-batch", "laplace", "paper", "none"},
                            setting.hyfreedp);
      !ok) {
    return ok.error();
  }
  if (auto ok = read_clipping(given, setting); !ok) return ok.error();
  // Before what asks whether there are probes.
  if (auto ok = read_released(given, setting); !ok) return ok.error();
  if (auto ok = read_choice(given.model, {"linear", "mlp"}, setting.request.model); !ok) return ok.error();
  for (const auto* probing : {&given.interval, &given.gamma}) {
    if (!*probing || setting.has_probes()) continue;
    return error(fmt::format(
        "--{} is an option of loss probes, and --hyfreedp none has no probes. Leave one of them out.",
        probing->name));
  }
  if (auto ok = read_numbers(given, setting); !ok) return ok.error();
  if (setting.request.canaries > setting.population) {
    return error(fmt::format("--population is {}; it must be at least the number of canaries, {}.",
                             setting.population, setting.request.canaries));
  }
  if (setting.batch_size() < 1) {
    return error(
        fmt::format("--sample-rate {} of --population {} makes batches of {:.3g} records on average; it "
                    "must be at least 1.",
                    setting.sample_rate, setting.population, setting.batch_size()));
  }
  setting.delta = accounting::default_delta(setting.population);
  if (given.delta) {
    const auto delta = delta_of(given.delta);
    if (!delta) return delta.error();
    setting.delta = *delta;
  }
  return setting;
}

// Checks the path of the report before the training, not after it.
Result<void> check_report(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code failure;
  if (path.empty() || fs::is_directory(path, failure)) {
    return error(fmt::format("--report is '{}'; it must name a file.", path));
  }
  const auto folder = fs::path(path).parent_path();
  if (folder.empty() || fs::is_directory(folder, failure)) return {};
  return error(fmt::format("--report is '{}'; there is no folder {}.", path, folder.string()));
}

trial::PrivacyPlan plan_without_noise(const Setting& setting) {
  auto plan = mechanism::probing_plan(setting.sample_rate, setting.interval, kLosses,
                                      setting.is_laplace() ? 1
                                      : setting.separate() ? setting.sample_rate
                                                           : 0);
  plan.population = setting.population;
  plan.batch_size = setting.batch_size();
  plan.clipping = {.rule = enum_from<trial::ClippingRule>(setting.clipping, "").value(),
                   .constant = setting.clipping == "abadi" ? kThreshold : kStabiliser,
                   .groups = enum_from<trial::ClippingGroups>(setting.clipping_groups, "").value(),
                   .shares = enum_from<trial::GroupShares>(setting.clipping_shares, "").value()};
  if (setting.follows_losses()) plan.released = trial::Released::loss_change;
  plan.probe->separate_batch = setting.separate();
  plan.probe->batch_size = setting.batch_size();
  if (setting.is_laplace()) {
    plan.probe->batch_size = static_cast<double>(setting.population);
    plan.probe->distribution = accounting::Noise::laplace;
  }
  return plan;
}

// Sets the plan's noise, and returns what it is claimed to spend.
Result<audit::Claim> calibrate(const Setting& setting, trial::PrivacyPlan& plan) {
  constexpr const char* kSound = "PLD of the calibrated events";
  if (!setting.has_probes()) {
    plan.probe.reset();
    const auto found = accounting::calibrate_gaussian(setting.sample_rate, setting.request.steps,
                                                      setting.epsilon, setting.delta);
    if (!found) return found.error();
    plan.gradient_noise = found->noise_multiplier;
    return audit::Claim{found->answer.epsilon, setting.delta, kSound};
  }
  const auto mode =
      mechanism::probe_accounting_from(setting.is_laplace() ? "separate-batch" : setting.hyfreedp);
  if (!mode) return mode.error();
  const auto split = mechanism::split_budget({.plan = plan,
                                              .steps = setting.request.steps,
                                              .gamma = setting.gamma,
                                              .epsilon = setting.epsilon,
                                              .delta = setting.delta,
                                              .mode = *mode});
  if (!split) return split.error();
  plan.gradient_noise = split->sigma_g;
  plan.probe->noise = split->sigma_l;
  plan.accounting = setting.hyfreedp;
  if (*mode == mechanism::ProbeAccounting::paper) {
    return audit::Claim{setting.epsilon, setting.delta, "paper accounting"};
  }
  return audit::Claim{split->sound.epsilon, setting.delta, kSound};
}

}  // namespace

void AuditRequest::describe(Options& options) {
  options.value(hyfreedp, "hyfreedp", "MODE",
                "the accounting that is audited: folded (default), separate-batch, laplace, paper, or none "
                "(plain DP-SGD without probes)");
  options.value(epsilon, "epsilon", "e", "epsilon for which the noise is calibrated (default 8)");
  options.value(delta, "delta", "D", "delta, (0, 1) (default N^-1.1)");
  options.value(population, "population", "N", "generated records (default 5000)");
  options.value(sample_rate, "sample-rate", "q", "Poisson sampling rate, (0, 1) (default 0.02)");
  options.value(steps, "steps", "T", "steps of a run (default 250)");
  options.value(interval, "interval", "K", "a probe every K steps (default 5)");
  options.value(gamma, "gamma", "g", "sigma_g over the noise without probes, > 1 (default 1.01)");
  options.value(released, "released", "R",
                "what a step follows: gradient (default) or, of DP-ZO, loss-change");
  options.value(clipping, "clipping", "C", "auto-s (default), auto-v or abadi");
  options.value(clipping_groups, "clipping-groups", "G",
                "what is clipped together: all (default) or per-layer");
  options.value(clipping_shares, "clipping-shares", "S",
                "each layer's share of the threshold: uniform (default) or size");
  options.value(model, "model", "M", "linear (default) or mlp");
  options.value(runs, "runs", "R", "number of training runs (default 64)");
  options.value(workers, "workers", "W", "runs trained at once (default 2)");
  options.value(canaries, "canaries", "C", "canary records in each run, 0 for none (default 100)");
  options.value(false_alarm, "false-alarm", "P",
                "probability of refuting a correct mechanism, of the whole report (default 1e-4)");
  options.value(seed, "seed", "TEXT", "reproducible data and noise (default: from the system's entropy)");
  options.flag(json, "json", "print a JSON object");
  options.value(report, "report", "FILE", "write the JSON object to FILE");
}

Result<audit::Request> asked_of_worker(const AuditRequest& request) {
  const auto setting = read_setting(request);
  if (!setting) return setting.error();
  if (request.report) {
    if (auto ok = check_report(*request.report); !ok) return ok.error();
  }
  auto asked = setting->request;
  asked.plan = plan_without_noise(*setting);
  const auto claim = calibrate(*setting, asked.plan);
  if (!claim) return claim.error();
  asked.claim = *claim;
  asked.seed = request.seed;
  return asked;
}

}  // namespace hyfreedp::cli
