// HyFreeDP's division of one budget between gradients and loss probes (Liu & Bu 2025, Algorithm 2):
// sigma_g = gamma * (the noise that would meet the target without probes), and sigma_l is the noise
// of the losses that spends what is left, under one of the modes below. All three are noise
// multipliers. Whatever else the plan releases (clip counts, a mean of features) is left room for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/accounting/accountant.h"
#include "harness/trial/privacy_plan.h"

namespace hyfreedp::mechanism {

enum class ProbeAccounting {
  folded,          // sound: probes on the gradient's own batch, folded before amplification
  separate_batch,  // sound: probes on a Poisson batch of their own
  paper,           // as published: each release priced with its own batch; understates epsilon
  paper_appendix,  // appendix C: two epsilons added. Same flaw, and a 2 delta statement.
};

struct ProbeSplitRequest {
  // A plan with a probe. The noise of gradients and probe is not read, because it is what is
  // computed; nor is the probe's `separate_batch`, which follows from the mode.
  trial::PrivacyPlan plan;
  std::int64_t steps = 0;
  double gamma = 1.01;  // > 1
  double epsilon = 0;
  double delta = 0;
  ProbeAccounting mode = ProbeAccounting::folded;
  // "pld" or "rdp", which the paper modes need. Empty: RDP for these, PLD else.
  std::string accountant = {};
  std::vector<double> orders = {};  // RDP orders; empty: default_orders()
};
struct ProbeSplit {
  double sigma = 0;    // without probes
  double sigma_g = 0;  // gamma * sigma
  double sigma_l = 0;
  double claimed_epsilon = 0;       // what the mode claims
  accounting::EpsilonAnswer sound;  // what the executed events really cost (same batch folded)
};
Result<ProbeSplit> split_budget(const ProbeSplitRequest& request);
// True if the mode was published with RDP, which alone sets its noise.
bool is_published(ProbeAccounting mode);
// The events that a run with this division executes. They are always described soundly
// (folded, or with separate batches), whatever the mode claims.
accounting::Events probe_events(const ProbeSplitRequest& request, double sigma_g, double sigma_l);

// A plan of which only what is released matters: gradients at every step on batches of
// `sample_rate`, and probes of `points` losses every `interval` steps. `probe_sample_rate`: of a
// probe's own batch; 0: that of the gradient.
trial::PrivacyPlan probing_plan(double sample_rate, std::int64_t interval = 5, int points = 3,
                                double probe_sample_rate = 0);

std::string to_string(ProbeAccounting mode);
Result<ProbeAccounting> probe_accounting_from(const std::string& name);

}  // namespace hyfreedp::mechanism
