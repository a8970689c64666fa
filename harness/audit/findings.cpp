#include "harness/audit/findings.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "harness/audit/canary_tests.h"
#include "harness/audit/independence_tests.h"
#include "harness/audit/ledger_tests.h"
#include "harness/audit/one_run.h"
#include "harness/audit/plan.h"
#include "harness/audit/residual_tests.h"
#include "harness/audit/sampler_tests.h"

namespace hyfreedp::audit {
namespace {

constexpr const char* kAuditedEpsilon = "audited epsilon";

Result<void> check(const Observations& observations, const Claim& claim, double false_alarm) {
  if (!(false_alarm > 0 && false_alarm < 1)) {
    return error(fmt::format("The false-alarm rate {} of an audit is outside (0, 1).", false_alarm));
  }
  if (!(claim.epsilon >= 0) || !(claim.delta > 0 && claim.delta < 1)) {
    return error(fmt::format("The claim of epsilon {} at delta {} needs epsilon >= 0 and delta in (0, 1).",
                             claim.epsilon, claim.delta));
  }
  if (auto ok = check_residuals(observations.residuals); !ok) return ok;
  if (auto ok = check_canaries(observations.canaries); !ok) return ok;
  if (auto ok = check_samplers(observations.samplers); !ok) return ok;
  return check_one_run(observations.one_run);
}

Plan plan_of(const Observations& observations, const Claim& claim) {
  Plan plan;
  if (plan_finiteness_test(observations.residuals, plan)) {
    plan_residual_tests(observations.residuals, plan);
    plan_independence_tests(observations.residuals, plan);
  }
  plan_canary_tests(observations.canaries, claim, plan);
  plan_ledger_tests(observations.runs, claim, plan);
  plan_sampler_tests(observations.samplers, plan);
  plan_one_run_test(observations.one_run, claim, plan);
  return plan;
}

}  // namespace

bool Report::refuted() const {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.refuted; });
}

json::object to_json(const Report& report) {
  auto object = as_json(report);
  object["refuted"] = report.refuted();
  return object;
}

Result<Report> judge(const Observations& observations, const Claim& claim, double false_alarm) {
  if (auto ok = check(observations, claim, false_alarm); !ok) return ok.error();
  const Plan plan = plan_of(observations, claim);
  double weights = 0;
  for (const auto& test : plan) weights += test.weight;
  Report report{claim, 0, 0, false_alarm, {}};
  for (const auto& test : plan) {
    const double rate = test.weight > 0 ? false_alarm * test.weight / weights : 0;
    auto finding = test.run(rate);
    if (!finding) return finding.error();
    finding->group = test.group;
    finding->name = test.name;
    finding->false_alarm = rate;
    if (test.name == kAuditedEpsilon) {
      report.audited_epsilon = double_or(finding->numbers, "epsilon", 0);
      report.confidence = 1 - rate;
    }
    report.findings.push_back(std::move(*finding));
  }
  return report;
}

}  // namespace hyfreedp::audit
