// Panda et al. 2024 compose runs as Gaussian mechanisms: mu^2 adds (Theorem 4.1), each run's mu
// being that of its epsilon at the one delta. Exact for full batches
// (Dong, Roth & Su 2019, Corollary 3.3).
#pragma once

#include <vector>

#include "harness/accounting/accountant.h"

namespace hyfreedp::analytic {

struct Runs {
  double epsilon = 0;  // of each, alone, at delta
  int count = 1;
};

// What all runs together cost at delta.
Result<double> composed_epsilon(const std::vector<Runs>& runs, double delta);
// The epsilon of one further run that fills up a total; an error where the runs alone exceed it.
Result<double> remaining_epsilon(const std::vector<Runs>& runs, double total, double delta);

}  // namespace hyfreedp::analytic
