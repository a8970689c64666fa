#include "harness/audit/plan.h"

#include <fmt/format.h>

namespace hyfreedp::audit {

PlannedTest p_value_test(std::string group, std::string name, std::function<PValue()> compute) {
  const auto run = [compute = std::move(compute)](double rate) -> Result<Finding> {
    const PValue found = compute();
    Finding finding;
    finding.refuted = !(found.p > rate);  // a p-value that is not a number refutes
    finding.numbers = found.numbers;
    finding.numbers["p_value"] = number(found.p);
    finding.text = fmt::format("{}; p = {:.2g}", found.text, found.p);
    return finding;
  };
  return {std::move(group), std::move(name), 1, run};
}

}  // namespace hyfreedp::audit
