// Auditing in one run (Steinke, Nasr & Jagielski, NeurIPS 2023, Theorem 5.2).
//
// Each of m canaries was in the data or not by a fair coin; r of them are guessed, v correctly.
// Under (eps, delta)
//     P(at least v of r correct) <= beta + 2 m delta max_{i = 1 .. v} P(v > Bin >= v - i) / i
// with Bin ~ Bin(r, e^eps / (1 + e^eps)) and beta = P(Bin >= v).
//
// This test is weak: even with every guess right, 100, 1000 and 5000 canaries refute no more than
// an epsilon of about 3.5, 5.8 and 7.4 at confidence 95 %.
#pragma once

#include "harness/audit/plan.h"

namespace hyfreedp::audit {

// 0 <= correct <= guesses <= canaries; epsilon >= 0, delta in [0, 1].
double one_run_p_value(const OneRunGuesses& guesses, double epsilon, double delta);
// The largest epsilon (up to 100) that is refuted at `rate`; 0 where none is.
double one_run_epsilon(const OneRunGuesses& guesses, double delta, double rate);

Result<void> check_one_run(const std::vector<OneRunGuesses>& one_run);
void plan_one_run_test(const std::vector<OneRunGuesses>& one_run, const Claim& claim, Plan& plan);

}  // namespace hyfreedp::audit
