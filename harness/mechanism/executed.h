// The releases that the steps of a run made, run-length coded, as the finish line of its journal
// holds them (journal.h): {PURPOSE: [[first, every, count], ...], ...}. PURPOSE was released at the
// steps first, first + every, ..., count of them. A release before step 0 counts as step 0.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/trial/trial_config.h"

namespace hyfreedp::mechanism {

struct StepRun {
  std::int64_t first = 0;
  std::int64_t every = 1;
  std::int64_t count = 1;

  std::int64_t last() const { return first + every * (count - 1); }
};

class Executed {
 public:
  // The purposes `made` were released at `step`, the largest so far.
  void add(std::int64_t step, const std::set<std::string>& made);
  json::object to_json() const;
  // Reads to_json()'s output for a run of `config`. An error if check_executed() finds one.
  static Result<Executed> from_json(const json::value& released, const trial::TrialConfig& config,
                                    const std::string& where);

 private:
  std::map<std::string, std::vector<StepRun>> runs_;  // by purpose
};

// An error that begins with `where` if `released` is not of that form, has a release that is not in
// the plan of `config`, or one that was made twice at a step.
Result<void> check_executed(const json::value& released, const trial::TrialConfig& config,
                            const std::string& where);

}  // namespace hyfreedp::mechanism
