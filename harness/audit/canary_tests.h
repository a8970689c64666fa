// Tests what the scores of canaries say about epsilon.
//
// A score is N(0, 1) for a step whose batch lacks the canary and N(mu, 1) for one that holds it.
// The threshold claimed_mu / 2, fixed before any score is seen, and Clopper-Pearson bounds on both
// error rates give
//     mu >= Phi^-1(1 - FPR_upper) + Phi^-1(1 - FNR_upper)
// (Nasr et al., USENIX Security 2023, section 5: the lower bound in the form of Gaussian
// differential privacy). A run of `steps` Poisson-sampled steps of each kind at least that
// distinguishable has at least the epsilon of their composition by PLD: the audited epsilon,
// refuted where it exceeds the claim.
//
// Assumes that one step given its batch is no easier than N(0, 1) against N(mu, 1) at other
// thresholds too (exact for Gaussian noise), and that batches are Poisson samples
// (sampler_tests.h looks at that).
//
// Two more powerful tests use what the scores should be: N(0, 1) "out"
// (mean and variance, two-sided), and a mean of at most claimed_mu "in".
#pragma once

#include "harness/audit/plan.h"

namespace hyfreedp::audit {

struct MuBound {
  double mu = 0;  // lower bound, 0 where nothing is shown
  std::int64_t false_positives = 0;
  std::int64_t false_negatives = 0;
};

// Fails with probability at most `rate`.
MuBound canary_mu(const CanaryScores& scores, double rate);

// Lower bound on the epsilon at `delta` of a run with all kinds; fails with probability at most
// `rate`.
struct AuditedEpsilon {
  double epsilon = 0;
  std::vector<MuBound> kinds;
};
Result<AuditedEpsilon> audited_epsilon(const std::vector<CanaryScores>& canaries, double delta, double rate);

Result<void> check_canaries(const std::vector<CanaryScores>& canaries);
// The finding "audited epsilon" carries the bound in numbers["epsilon"], and the one at 95 %, which
// refutes nothing, in numbers["epsilon_95"].
void plan_canary_tests(const std::vector<CanaryScores>& canaries, const Claim& claim, Plan& plan);

}  // namespace hyfreedp::audit
