// Computes what a study cost: the executed events of its trials, composed by the rule its method
// named, priced at its delta.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "baselines/baseline.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

// Prices a composition once, however many seeds have it.
class StudyPricer {
 public:
  using Executed = std::function<Result<std::vector<accounting::Event>>(const std::string& trial)>;

  // Fills `study.total` and `study.training`; nothing for a non-private study, or one that touched
  // nothing.
  Result<void> price(results::StudyRecord& study, const trial::Composition& composition,
                     const Executed& executed);

 private:
  Result<std::optional<accounting::ReportedEpsilon>> epsilon(const accounting::Events& events, double delta);
  std::map<std::string, accounting::ReportedEpsilon> known_;
};

}  // namespace hyfreedp::runner
