#include "harness/cli/check/audit_request.h"

#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <limits>

#include "harness/accounting/accountant.h"
#include "harness/cli/common/accounting_flags.h"
#include "harness/mechanism/probe_split.h"

namespace hyfreedp::cli {
namespace {

constexpr const char* kUsage =
    "hyfreedp audit: trains small models with canaries and tries to refute the epsilon that is claimed.\n"
    "\n"
    "  hyfreedp audit\n"
    "  hyfreedp audit --hyfreedp paper --epsilon 8\n"
    "\n"
    "The second line audits the accounting of the paper, whose claim does not hold. It ends like this, with "
    "exit\n"
    "code 1:\n"
    "  ledger    REFUTED  simulated delta: delta at epsilon 8 is 0.00454 and at least 0.000675 in 3750\n"
    "                     simulated runs (8.53e-05 is claimed, remove direction)\n"
    "  verdict   REFUTED\n"
    "Without the flags it looks at this program's own accounting, and accepts it with exit code 0.\n"
    "\n"
    "It reads what the optimizer and the learning-rate controller are handed, and compares it with sums "
    "computed\n"
    "anew: the noise's scale, mean, shape and independence; canaries in the batches; the booked events "
    "against\n"
    "those that happened, and their delta by simulation; which records the sampler takes; guesses from the "
    "final\n"
    "weights. harness/audit/README.md says what each test can and cannot see.\n"
    "An audit looks at raw values: it runs on generated data, never on yours.\n"
    "Exit code: 0 accepted, 1 a claim is refuted, 2 bad input or no answer from the worker.\n\n";

constexpr int kLosses = 3;  // of a probe
constexpr std::int64_t kMostSteps = 100'000;
constexpr std::int64_t kMostRuns = 1000;
constexpr std::int64_t kMostRecords = 10'000'000;
constexpr double kStabiliser = 0.01;  // of AUTO-S
constexpr double kThreshold = 1.0;    // of Abadi's clipping

struct Setting {
  std::string hyfreedp = "folded";
  double epsilon = 8;
  double delta = 0;
  double sample_rate = 0.02;
  double gamma = 1.01;
  std::int64_t population = 5000;
  std::int64_t interval = 5;
  std::string clipping = "auto-s";
  std::string clipping_groups = "all";
  std::string clipping_shares = "uniform";
  audit::Request request = {.workers = 2, .false_alarm = 1e-4};

  double batch_size() const { return sample_rate * static_cast<double>(population); }
  bool has_probes() const { return hyfreedp != "none"; }
  bool separate() const { return hyfreedp == "separate-batch" || is_laplace(); }
  bool is_laplace() const { return hyfreedp == "laplace"; }
};

Result<void> read_choice(const Given& given, const char* name, const std::vector<std::string>& allowed,
                         std::string& value) {
  if (given.count(name) > 0) value = given[name].as<std::string>();
  return one_of(name, value, allowed);
}

Result<void> read_counts(const Given& given, Setting& setting) {
  struct Count {
    const char* name;
    std::int64_t largest;
    std::int64_t& value;
  };
  for (const auto& [name, largest, value] :
       {Count{"population", kMostRecords, setting.population},
        Count{"steps", kMostSteps, setting.request.steps}, Count{"interval", kMostSteps, setting.interval},
        Count{"runs", kMostRuns, setting.request.runs},
        Count{"workers", kMostRuns, setting.request.workers}}) {
    if (given.count(name) == 0) continue;
    const auto count = count_given(given, name, largest);
    if (!count) return count.error();
    value = *count;
  }
  if (given.count("canaries") == 0) return {};
  const auto canaries = number_given(given, "canaries");
  if (!canaries) return canaries.error();
  const bool whole = *canaries == std::floor(*canaries);
  if (!whole || !(*canaries >= 0 && *canaries <= static_cast<double>(setting.population))) {
    return error(fmt::format("--canaries is {}; it must be a whole number from 0 to the population, {}.",
                             given["canaries"].as<std::string>(), setting.population));
  }
  setting.request.canaries = static_cast<std::int64_t>(*canaries);
  return {};
}

Result<void> read_numbers(const Given& given, Setting& setting) {
  struct Number {
    const char* name;
    double above;
    double below;
    double& value;
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const auto& [name, above, below, value] :
       {Number{"epsilon", 0, kInfinity, setting.epsilon}, Number{"sample-rate", 0, 1, setting.sample_rate},
        Number{"gamma", 1, kInfinity, setting.gamma},
        Number{"false-alarm", 0, 1, setting.request.false_alarm}}) {
    if (given.count(name) == 0) continue;
    const auto found = number_given(given, name);
    if (!found) return found.error();
    if (!(*found > above && *found < below)) {
      const std::string range = std::isfinite(below) ? fmt::format("lie in ({}, {})", above, below)
                                                     : fmt::format("be above {} and finite", above);
      return error(fmt::format("--{} is {}; it must {}.", name, given[name].as<std::string>(), range));
    }
    value = *found;
  }
  return {};
}

Result<void> read_clipping(const Given& given, Setting& setting) {
  if (given.count("clipping") > 0 && given["clipping"].as<std::string>() == "adaptive") {
    return error(
        "--clipping is adaptive, which cannot be audited, because its threshold changes from step to step. "
        "Audit abadi, which is the same at any single step.");
  }
  if (auto ok = read_choice(given, "clipping", {"auto-s", "auto-v", "abadi"}, setting.clipping); !ok)
    return ok;
  if (auto ok = read_choice(given, "clipping-groups", {"all", "per-layer"}, setting.clipping_groups); !ok) {
    return ok;
  }
  if (given.count("clipping-shares") > 0 && setting.clipping_groups == "all") {
    return error(
        "--clipping-shares sets each layer's share of the threshold; it needs --clipping-groups per-layer.");
  }
  return read_choice(given, "clipping-shares", {"uniform", "size"}, setting.clipping_shares);
}

Result<Setting> read_setting(const Given& given) {
  Setting setting;
  if (auto ok = read_choice(given, "hyfreedp", {"folded", "separate-batch", "laplace", "paper", "none"},
                            setting.hyfreedp);
      !ok) {
    return ok.error();
  }
  if (auto ok = read_clipping(given, setting); !ok) return ok.error();
  if (auto ok = read_choice(given, "model", {"linear", "mlp"}, setting.request.model); !ok) return ok.error();
  if (!setting.has_probes()) {
    for (const char* name : {"interval", "gamma"}) {
      if (given.count(name) == 0) continue;
      return error(fmt::format(
          "--{} is an option of loss probes, and --hyfreedp none has no probes. Leave one of them out.",
          name));
    }
  }
  if (auto ok = read_counts(given, setting); !ok) return ok.error();
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
  setting.delta = std::pow(static_cast<double>(setting.population), -1.1);
  if (given.count("delta") > 0) {
    const auto delta = delta_given(given);
    if (!delta) return delta.error();
    setting.delta = *delta;
  }
  return setting;
}

// Before the training, not after it.
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
  plan.clipping = setting.clipping == "abadi"    ? trial::Clipping::abadi
                  : setting.clipping == "auto-v" ? trial::Clipping::auto_v
                                                 : trial::Clipping::auto_s;
  plan.clipping_constant = setting.clipping == "abadi" ? kThreshold : kStabiliser;
  if (setting.clipping_groups == "per-layer") plan.groups = trial::ClippingGroups::per_layer;
  if (setting.clipping_shares == "size") plan.shares = trial::GroupShares::size;
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

CommandLine audit_command_line() {
  CommandLine line{.command = "audit", .usage = kUsage};
  auto add = line.options.add_options();
  add("help,h", "this text");
  add_text(add, "hyfreedp", "MODE",
           "the accounting that is audited: folded (default), separate-batch, laplace, paper, or none (plain "
           "DP-SGD without probes)");
  add_text(add, "epsilon", "e", "epsilon for which the noise is calibrated (default 8)");
  add_text(add, "delta", "D", "delta, (0, 1) (default N^-1.1)");
  add_text(add, "population", "N", "generated records (default 5000)");
  add_text(add, "sample-rate", "q", "Poisson sampling rate, (0, 1) (default 0.02)");
  add_text(add, "steps", "T", "steps of a run (default 250)");
  add_text(add, "interval", "K", "a probe every K steps (default 5)");
  add_text(add, "gamma", "g", "sigma_g over the noise without probes, > 1 (default 1.01)");
  add_text(add, "clipping", "C", "auto-s (default), auto-v or abadi");
  add_text(add, "clipping-groups", "G", "what is clipped together: all (default) or per-layer");
  add_text(add, "clipping-shares", "S", "each layer's share of the threshold: uniform (default) or size");
  add_text(add, "model", "M", "linear (default) or mlp");
  add_text(add, "runs", "R", "number of training runs (default 64)");
  add_text(add, "workers", "W", "runs trained at once (default 2)");
  add_text(add, "canaries", "C", "canary records in each run, 0 for none (default 100)");
  add_text(add, "false-alarm", "P",
           "probability of refuting a correct mechanism, of the whole report (default 1e-4)");
  add_text(add, "seed", "TEXT", "reproducible data and noise (default: from the system's entropy)");
  add("json", "print a JSON object");
  add_text(add, "report", "FILE", "write the JSON object to FILE");
  return line;
}

Result<AuditAsked> audit_asked(const Given& given) {
  const auto setting = read_setting(given);
  if (!setting) return setting.error();
  const std::string report = given.count("report") > 0 ? given["report"].as<std::string>() : "";
  if (given.count("report") > 0) {
    if (auto ok = check_report(report); !ok) return ok.error();
  }
  AuditAsked asked{.request = setting->request, .json = given.count("json") > 0, .report = report};
  asked.request.plan = plan_without_noise(*setting);
  const auto claim = calibrate(*setting, asked.request.plan);
  if (!claim) return claim.error();
  asked.request.claim = *claim;
  if (given.count("seed") > 0) asked.request.seed = given["seed"].as<std::string>();
  return asked;
}

}  // namespace hyfreedp::cli
