// A test whose share of the report's false-alarm rate is not yet known. Each family of tests adds
// the tests that the observations allow; `judge` divides the rate among them by weight and runs
// them.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "harness/audit/findings.h"

namespace hyfreedp::audit {

struct PlannedTest {
  std::string group;
  std::string name;
  // of the rate; 0: the test cannot raise a false alarm
  double weight = 1;
  std::function<Result<Finding>(double rate)> run;  // leaves group, name and false_alarm to `judge`
};

using Plan = std::vector<PlannedTest>;

// The result of a test with a p-value: the probability that a correct mechanism looks at least as
// bad.
struct PValue {
  double p = 1;
  std::string text;
  json::object numbers = {};
};

// Refutes where p <= rate; the text gets the p-value added.
PlannedTest p_value_test(std::string group, std::string name, std::function<PValue()> compute);

}  // namespace hyfreedp::audit
