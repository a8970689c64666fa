// Tests that try to falsify a privacy claim from observations. Each states its own false-alarm
// rate.
//
// A finding refutes where a correct mechanism would give what was seen with probability at most
// `false_alarm`. Bounds of the whole report add up (union bound), so `judge` splits its rate over
// the findings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/accounting/accountant.h"
#include "harness/audit/observations.h"
#include "harness/base/describe.h"

namespace hyfreedp::audit {

// One test's result.
struct Finding {
  std::string group;  // "residuals", "canaries", "ledger", "sampler", "one run"
  std::string name;   // "noise scale", "independence across steps", ...
  bool refuted = false;
  double false_alarm = 0;  // probability of refuting a correct mechanism, at most
  std::string text;        // one sentence with the numbers
  json::object numbers;    // the same for machines
};
BOOST_DESCRIBE_STRUCT(Finding, (), (group, name, refuted, false_alarm, text, numbers))

// The claim: epsilon at delta for each run.
struct Claim {
  double epsilon = 0;
  double delta = 0;
  std::string by;  // "PLD of the executed events", "paper accounting"
};
BOOST_DESCRIBE_STRUCT(Claim, (), (epsilon, delta, by))

struct Report {
  Claim claim;
  double audited_epsilon = 0;  // lower bound of the canaries, with `confidence`
  double confidence = 0;
  double false_alarm = 0;  // of the whole report
  std::vector<Finding> findings;
  bool refuted() const;
};
BOOST_DESCRIBE_STRUCT(Report, (), (claim, audited_epsilon, confidence, false_alarm, findings))

// The JSON by the report's description, with "refuted".
json::object to_json(const Report& report);

// All tests, in the order residuals, canaries, ledger, sampler, one run. `false_alarm` in (0, 1) is
// the rate of the whole.
Result<Report> judge(const Observations& observations, const Claim& claim, double false_alarm);

}  // namespace hyfreedp::audit
