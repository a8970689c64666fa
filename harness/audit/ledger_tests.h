// Does the ledger hold what was released, and is it worth the epsilon that is claimed?
//
//   completeness      every vector and loss that was handed out is booked, on the batch that it was
//                     computed on: a probe on the gradient's batch is a release of that batch. As
//                     many vectors as the run has steps: one that is left out shows that its batch
//                     was empty. No chance is involved.
//   simulated delta   delta(eps) = E_P[(1 - e^{eps - L})_+] of the executed events at the claimed
//                     epsilon by drawing the total privacy loss L from the dominating pairs
//                     (releases of one batch folded), independent of the accountants' transforms;
//                     both directions.
//
// The remove direction draws from P tilted by e^{theta L}: with a = 1 + theta whole, the density of
// one step
//     phi(x) (1 - q + q e^{(2x-1)/(2 sigma^2)})^a
// is a mixture of N(k, sigma^2), k = 0 .. a, of weights C(a, k) (1-q)^{a-k} q^k
// e^{(k^2-k)/(2 sigma^2)}, so the draw is exact. With M the product of the normalisers over the
// steps, delta = E[X], X = M e^{-theta L} (1 - e^{eps-L})_+, and
//     0 <= X <= M e^{-theta eps} theta^theta / (1 + theta)^(1+theta),
// a few times delta itself when a is chosen to minimise it. A mean of bounded variables has a lower
// confidence bound by Hoeffding's inequality in its Kullback-Leibler form, so a claim that is short
// by a few per cent of delta is refuted. The add direction, which is the smaller one for Gaussian
// noise, is drawn as it is.
#pragma once

#include "harness/audit/plan.h"

namespace hyfreedp::audit {

struct SimulationBudget {
  double draws = 1.2e7;        // of single steps, remove direction: about half a second
  std::int64_t most = 100000;  // runs, remove direction; the add direction gets a quarter
  std::string seed = "ledger audit";
};

struct SimulatedDelta {
  double estimate = 0;      // of the larger direction
  double lower = 0;         // holds with probability at least 1 - rate
  std::int64_t runs = 0;    // simulated, both directions
  std::string direction{};  // "remove" or "add"
  bool refuted = false;     // lower > delta
};

// Looks at the bound after a sixteenth, a quarter and all of the budget and stops where it refutes
// `delta`. Sampled and full-batch Gaussian releases under add/remove only; anything else is an
// error.
Result<SimulatedDelta> simulate_delta(const std::vector<accounting::Event>& executed, double epsilon,
                                      double delta, double rate, const SimulationBudget& budget = {});

// Names what a run's journal lacks, as a sentence; empty if it is complete.
std::string missing_from_ledger(const RunReleases& run);

// Runs with equal events are simulated once.
void plan_ledger_tests(const std::vector<RunReleases>& runs, const Claim& claim, Plan& plan);

}  // namespace hyfreedp::audit
