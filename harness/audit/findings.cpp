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

Result<Finding> finding_from_json(const json::object& object, const std::string& where) {
  Finding finding;
  auto group = get_string(object, "group", where);
  if (!group) return group.error();
  auto name = get_string(object, "name", where);
  if (!name) return name.error();
  const auto refuted = get_bool(object, "refuted", where);
  if (!refuted) return refuted.error();
  const auto rate = get_double(object, "false_alarm", where);
  if (!rate) return rate.error();
  auto text = get_string(object, "text", where);
  if (!text) return text.error();
  const auto* numbers = object.if_contains("numbers");
  if (numbers == nullptr || !numbers->is_object()) return error(where + ".numbers must be an object.");
  return Finding{std::move(*group), std::move(*name),     *refuted, *rate,
                 std::move(*text),  numbers->get_object()};
}

Result<Claim> claim_from_json(const json::object& object, const std::string& where) {
  const auto* found = object.if_contains("claim");
  if (found == nullptr || !found->is_object()) return error(where + ".claim must be an object.");
  const auto& claim = found->get_object();
  const auto epsilon = get_double(claim, "epsilon", where + ".claim");
  if (!epsilon) return epsilon.error();
  const auto delta = get_double(claim, "delta", where + ".claim");
  if (!delta) return delta.error();
  auto by = get_string(claim, "by", where + ".claim");
  if (!by) return by.error();
  return Claim{*epsilon, *delta, std::move(*by)};
}

}  // namespace

bool Report::refuted() const {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.refuted; });
}

json::object to_json(const Report& report) {
  json::array findings;
  for (const auto& finding : report.findings) {
    findings.push_back(json::object{{"group", finding.group},
                                    {"name", finding.name},
                                    {"refuted", finding.refuted},
                                    {"false_alarm", number(finding.false_alarm)},
                                    {"text", finding.text},
                                    {"numbers", finding.numbers}});
  }
  return {{"claim", json::object{{"epsilon", number(report.claim.epsilon)},
                                 {"delta", number(report.claim.delta)},
                                 {"by", report.claim.by}}},
          {"audited_epsilon", number(report.audited_epsilon)},
          {"confidence", number(report.confidence)},
          {"false_alarm", number(report.false_alarm)},
          {"refuted", report.refuted()},
          {"findings", std::move(findings)}};
}

Result<Report> report_from_json(const json::value& value, const std::string& where) {
  if (!value.is_object()) return error(where + " must be an object with a claim and findings.");
  const auto& object = value.get_object();
  Report report;
  auto claim = claim_from_json(object, where);
  if (!claim) return claim.error();
  report.claim = std::move(*claim);
  for (const auto& [key, target] :
       {std::pair{"audited_epsilon", &report.audited_epsilon}, std::pair{"confidence", &report.confidence},
        std::pair{"false_alarm", &report.false_alarm}}) {
    const auto found = get_double(object, key, where);
    if (!found) return found.error();
    *target = *found;
  }
  const auto* findings = object.if_contains("findings");
  if (findings == nullptr || !findings->is_array()) return error(where + ".findings must be a list.");
  for (std::size_t i = 0; i < findings->get_array().size(); ++i) {
    const auto& one = findings->get_array()[i];
    const std::string here = fmt::format("{}.findings[{}]", where, i);
    if (!one.is_object()) return error(here + " must be an object.");
    auto finding = finding_from_json(one.get_object(), here);
    if (!finding) return finding.error();
    report.findings.push_back(std::move(*finding));
  }
  return report;
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
