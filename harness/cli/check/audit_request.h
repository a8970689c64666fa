// The request of `hyfreedp audit`, and the one that it sends to `hyfreedp-worker --audit`: one JSON
// object on the worker's standard input with every field present, which harness/audit/request.h
// reads.
#pragma once

#include "harness/audit/request.h"
#include "harness/cli/common/command.h"

namespace hyfreedp::cli {

struct AuditRequest {
  Given hyfreedp, epsilon, delta, population, sample_rate, steps, interval, gamma;
  Given released, clipping, clipping_groups, clipping_shares, model;
  Given runs, workers, canaries, false_alarm;
  std::optional<std::string> seed;
  bool json = false;                  // print the worker's answer instead of text
  std::optional<std::string> report;  // file for the answer

  void describe(Options& options);
};

// Checks what is asked; errors name the option. Calibrates the noise: sound modes by PLD, the
// paper's by RDP as published. The claim is the PLD upper bound of the calibrated events, or the
// paper's nominal epsilon.
Result<audit::Request> asked_of_worker(const AuditRequest& request);

}  // namespace hyfreedp::cli
