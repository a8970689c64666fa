// The request of an audit: one plan on the training path, and how many runs to observe.
//
// `hyfreedp audit` writes it and `hyfreedp-worker --audit` reads it, as one JSON object with the
// members below.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/audit/findings.h"
#include "harness/trial/privacy_plan.h"

namespace hyfreedp::audit {

struct Request {
  // The plan of a run on generated records, as many as its population. Releases other than
  // gradients, changes of losses and probes of three losses are not audited.
  trial::PrivacyPlan plan;
  std::int64_t steps = 250;  // T
  std::string model = "linear";
  std::int64_t runs = 64;
  std::int64_t workers = 1;     // runs trained at once, each in a thread of its own
  std::int64_t canaries = 100;  // records of the private training split that are canaries
  double false_alarm = 1e-3;
  std::optional<std::string> seed;  // none: keys come from the system's entropy
  Claim claim;
};
BOOST_DESCRIBE_STRUCT(Request, (), (plan, steps, model, runs, workers, canaries, false_alarm, seed, claim))

// Reads a request and checks it. Errors begin with `where`.
Result<Request> request_from_json(const json::value& value, const std::string& where);

}  // namespace hyfreedp::audit
