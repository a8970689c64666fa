// Audits of the training path in settings small enough for a test, with the noise and the claim
// that `hyfreedp audit` would give them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <iostream>

#include "harness/accounting/accountant.h"
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
  std::string clipping = "auto-s";
  std::string groups = "all";
  std::string shares = "uniform";
  std::int64_t canaries = 32;
  std::int64_t workers = 1;
  std::string seed = "tests";
};

inline void calibrate_noise(AuditRequest& request) {
  if (!request.has_probes()) {
    const auto found =
        accounting::calibrate_gaussian(request.sample_rate, request.steps, request.epsilon, request.delta);
    request.sigma_g = found.value().noise_multiplier;
    request.claim = {found->answer.epsilon, request.delta, "PLD of the calibrated events"};
    return;
  }
  const auto split =
      accounting::split_budget({.sample_rate = request.sample_rate,
                                .steps = request.steps,
                                .interval = request.interval,
                                .gamma = request.gamma,
                                .probe_sample_rate = request.probe_sample_rate,
                                .epsilon = request.epsilon,
                                .delta = request.delta,
                                .mode = accounting::probe_accounting_from(request.hyfreedp).value(),
                                .accountant = request.hyfreedp == "paper" ? "rdp" : "pld"})
          .value();
  request.sigma_g = split.sigma_g;
  request.sigma_l = split.sigma_l;
  request.claim = {split.claimed_epsilon, request.delta,
                   request.hyfreedp == "paper" ? "paper accounting" : "PLD of the calibrated events"};
}

inline AuditRequest request_of(const Setting& setting) {
  AuditRequest request;
  request.hyfreedp = setting.hyfreedp;
  request.epsilon = setting.epsilon;
  request.steps = setting.steps;
  request.runs = setting.runs;
  request.interval = setting.interval;
  request.population = setting.population;
  request.sample_rate = setting.sample_rate;
  request.batch_size = setting.sample_rate * static_cast<double>(setting.population);
  request.model = setting.model;
  request.clipping = setting.clipping;
  request.clipping_constant = setting.clipping == "abadi" ? 1.0 : 0.01;
  request.clipping_groups = setting.groups;
  request.clipping_shares = setting.shares;
  request.canaries = setting.canaries;
  request.workers = setting.workers;
  request.seed = setting.seed;
  if (request.has_probes()) {
    request.probes = 3;
    request.probe_batch_size = request.batch_size;
    if (setting.hyfreedp == "separate-batch") request.probe_sample_rate = setting.sample_rate;
  }
  calibrate_noise(request);
  return request;
}

inline audit::Observations observe(const AuditRequest& request, const Parts& parts = {}) {
  auto observed = collect(
      request, [](const std::string&) {}, parts);
  EXPECT_TRUE(observed) << observed.error().message;
  return observed ? std::move(*observed) : audit::Observations{};
}

inline audit::Report report_on(const AuditRequest& request, const Parts& parts = {}) {
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
