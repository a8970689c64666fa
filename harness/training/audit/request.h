// The request of an audit: one setting of the training path, and how many runs to observe.
//
// `hyfreedp audit` writes it and `hyfreedp-worker --audit` reads it, as one JSON object with every
// field below under its own name ("probes": none is 0; "seed": null means that keys come from the
// system's entropy), and `claim` {epsilon, delta, by}.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/audit/findings.h"
#include "harness/trial/privacy_plan.h"

namespace hyfreedp::training {

struct AuditRequest {
  // The loss probes' batch: none, folded, separate-batch or paper.
  std::string hyfreedp = "none";
  double epsilon = 8;  // target of the noise below
  double delta = 1e-5;
  std::int64_t population = 5000;  // N
  double sample_rate = 0.02;       // q
  double batch_size = 100;         // B = q N, the divisor
  std::int64_t steps = 250;        // T
  std::int64_t interval = 5;       // K
  int probes = 0;                  // losses a probe
  double gamma = 1.01;
  std::string clipping = "auto-s";
  double clipping_constant = 0.01;
  std::string clipping_groups = "all";      // or per-layer
  std::string clipping_shares = "uniform";  // or size, with per-layer
  double sigma_g = 1;
  double sigma_l = 0;
  double probe_sample_rate = 0;
  double probe_batch_size = 0;
  std::string model = "linear";
  std::int64_t runs = 64;
  std::int64_t workers = 1;     // runs trained at once, each in a thread of its own
  std::int64_t canaries = 100;  // records of the private training split that are canaries
  double false_alarm = 1e-3;
  std::optional<std::string> seed;
  audit::Claim claim;

  bool has_probes() const { return hyfreedp != "none"; }
  trial::PrivacyPlan plan() const;
};

// Reads a request. Every field is required and checked; errors begin with `where`.
Result<AuditRequest> audit_request_from_json(const json::value& value, const std::string& where);

}  // namespace hyfreedp::training
