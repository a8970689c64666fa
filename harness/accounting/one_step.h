// One use of a mechanism: delta(eps) = P(L > eps) - e^eps Q(L > eps) in closed form, the larger of both directions.
#pragma once

#include "harness/accounting/loss_pair.h"

namespace hyfreedp::accounting {

double one_step_delta(const LossPair& pair, double epsilon);
// Smallest epsilon >= 0 that meets delta.
double one_step_epsilon(const LossPair& pair, double delta);

}  // namespace hyfreedp::accounting
