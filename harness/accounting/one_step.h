// One use of a mechanism: delta(eps) = P(A) - e^eps Q(A), A where the loss exceeds eps, in closed form, the larger of both
// directions. It is formed as (P - Q)(A) - (e^eps - 1) Q(A), whose first term is a cell of the noise: at weak sampling P(A) and
// e^eps Q(A) agree in most of their digits. What rounding leaves is bounded and charged, so the true value is enclosed.
#pragma once

#include "harness/accounting/loss_pair.h"
#include "harness/accounting/pld_run.h"

namespace hyfreedp::accounting {

// The bracket of delta at `epsilon` >= 0.
Bracket one_step_delta(const LossPair& pair, double epsilon);
// The bracket of the smallest epsilon >= 0 that meets delta.
Bracket one_step_epsilon(const LossPair& pair, double delta);

}  // namespace hyfreedp::accounting
