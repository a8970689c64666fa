// One step of a mechanism in closed form: delta(eps) = P(A) - e^eps Q(A), where A is the set on
// which the loss exceeds eps, and the larger of both directions counts. It is computed as
// (P - Q)(A) - (e^eps - 1) Q(A), whose first term is the noise's mass on an interval: at a small
// sample rate P(A) and e^eps Q(A) agree in most of their digits. The rounding error is bounded and
// added, so that the bracket contains the true value.
#pragma once

#include "harness/accounting/loss_pair.h"
#include "harness/accounting/pld_run.h"

namespace hyfreedp::accounting {

// A bracket of delta at `epsilon` >= 0.
Bracket one_step_delta(const LossPair& pair, double epsilon);
// A bracket of the smallest epsilon >= 0 whose delta is at most `delta`.
Bracket one_step_epsilon(const LossPair& pair, double delta);

}  // namespace hyfreedp::accounting
