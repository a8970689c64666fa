// Audits of the training path in settings small enough for a test, with the noise and the claim
// that `hyfreedp audit` would give them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <iostream>

#include "harness/accounting/accountant.h"
#include "harness/mechanism/probe_split.h"
#include "harness/training/audit/collect.h"

namespace hyfreedp::training {

struct Setting {
  std::string hyfreedp = "none";
  double epsilon = 8;
  std::int64_t steps = 100;
  std::int64_t runs = 8;
  std::int64_t interval = 2;
  std::int64_t population = 2000;
  double sample_rate = 0.03;
  std::string model = "linear";
  std::string released = "gradient";
  std::string clipping = "auto-s";
  std::string groups = "all";
  std::string shares = "uniform";
  std::int64_t canaries = 32;
  std::int64_t workers = 1;
  std::string seed = "tests";
};

inline bool has_probes(const Setting& setting) { return setting.hyfreedp != "none"; }

inline void calibrate_noise(const Setting& setting, audit::Request& request) {
  constexpr double kDelta = 1e-5;
  auto& plan = request.plan;
  if (!has_probes(setting)) {
    const auto found =
        accounting::calibrate_gaussian(plan.sample_rate, request.steps, setting.epsilon, kDelta);
    plan.gradient_noise = found.value().noise_multiplier;
    request.claim = {found->answer.epsilon, kDelta, "PLD of the calibrated events"};
    return;
  }
  const auto split =
      mechanism::split_budget({.plan = plan,
                               .steps = request.steps,
                               .epsilon = setting.epsilon,
                               .delta = kDelta,
                               .mode = plan.probe->separate_batch
                                           ? mechanism::ProbeAccounting::separate_batch
                                           : mechanism::probe_accounting_from(setting.hyfreedp).value(),
                               .accountant = setting.hyfreedp == "paper" ? "rdp" : "pld"})
          .value();
  plan.gradient_noise = split.sigma_g;
  plan.probe->noise = split.sigma_l;
  request.claim = {split.claimed_epsilon, kDelta,
                   setting.hyfreedp == "paper" ? "paper accounting" : "PLD of the calibrated events"};
}

inline audit::Request request_of(const Setting& setting) {
  audit::Request request;
  const bool is_laplace = setting.hyfreedp == "laplace";  // on all records
  const bool separate = setting.hyfreedp == "separate-batch" || is_laplace;
  auto& plan = request.plan;
  plan = mechanism::probing_plan(setting.sample_rate, setting.interval, 3,
                                 is_laplace ? 1
                                 : separate ? setting.sample_rate
                                            : 0);
  plan.population = setting.population;
  plan.batch_size = setting.sample_rate * static_cast<double>(setting.population);
  plan.clipping = {.rule = enum_from<trial::ClippingRule>(setting.clipping, "").value(),
                   .constant = setting.clipping == "abadi" ? 1.0 : 0.01,
                   .groups = enum_from<trial::ClippingGroups>(setting.groups, "").value(),
                   .shares = enum_from<trial::GroupShares>(setting.shares, "").value()};
  if (setting.released == "loss-change") plan.released = trial::Released::loss_change;
  if (has_probes(setting)) {
    plan.probe->separate_batch = separate;
    plan.probe->batch_size = is_laplace ? static_cast<double>(setting.population) : plan.batch_size;
    if (is_laplace) plan.probe->distribution = accounting::Noise::laplace;
    plan.accounting = setting.hyfreedp;
  } else {
    plan.probe.reset();
  }
  request.steps = setting.steps;
  request.runs = setting.runs;
  request.model = setting.model;
  request.canaries = setting.canaries;
  request.workers = setting.workers;
  request.seed = setting.seed;
  calibrate_noise(setting, request);
  return request;
}

inline audit::Observations observe(const audit::Request& request, const Parts& parts = {}) {
  auto observed = collect(
      request, [](const std::string&) {}, parts);
  EXPECT_TRUE(observed) << observed.error().message;
  return observed ? std::move(*observed) : audit::Observations{};
}

inline audit::Report report_on(const audit::Request& request, const Parts& parts = {}) {
  return audit::judge(observe(request, parts), request.claim, request.false_alarm).value();
}

inline std::vector<std::string> refuting(const audit::Report& report) {
  std::vector<std::string> names;
  for (const auto& finding : report.findings) {
    if (finding.refuted) names.push_back(finding.group + ": " + finding.name);
  }
  return names;
}

inline std::string text_of(const audit::Report& report) {
  std::string text =
      fmt::format("claim {:.4g}, audited {:.4g}\n", report.claim.epsilon, report.audited_epsilon);
  for (const auto& one : report.findings) {
    text +=
        fmt::format("  {} {}: {}: {}\n", one.refuted ? "REFUTED" : "stands ", one.group, one.name, one.text);
  }
  return text;
}

}  // namespace hyfreedp::training
