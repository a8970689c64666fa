// The request of an audit: one plan on the training path, and how many runs to observe.
//
// `hyfreedp audit` writes it and `hyfreedp-worker --audit` reads it, as one JSON object with every
// field below under its own name ("seed": null means that keys come from the system's entropy), and
// `claim` {epsilon, delta, by}.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/audit/findings.h"
#include "harness/trial/privacy_plan.h"

namespace hyfreedp::training {

struct AuditRequest {
  // Of generated records, as many as its population. Adaptive clipping, a mean of features and
  // probes of other than three losses are not audited.
  trial::PrivacyPlan plan;
  std::int64_t steps = 250;  // T
  std::string model = "linear";
  std::int64_t runs = 64;
  std::int64_t workers = 1;     // runs trained at once, each in a thread of its own
  std::int64_t canaries = 100;  // records of the private training split that are canaries
  double false_alarm = 1e-3;
  std::optional<std::string> seed;
  audit::Claim claim;
};

// Reads a request. Every field is required and checked; errors begin with `where`.
Result<AuditRequest> audit_request_from_json(const json::value& value, const std::string& where);

}  // namespace hyfreedp::training
