// Panda et al. 2024 compose runs as Gaussian mechanisms: mu^2 adds (Theorem 4.1), where each run's
// mu is that of its epsilon at one common delta. This is exact for full batches
// (Dong, Roth & Su 2019, Corollary 3.3).
#pragma once

#include <vector>

#include "harness/accounting/accountant.h"

namespace hyfreedp::analytic {

struct Runs {
  double epsilon = 0;  // of each, alone, at delta
  int count = 1;
};

// The epsilon of all runs together at `delta`.
Result<double> composed_epsilon(const std::vector<Runs>& runs, double delta);
// The epsilon of one further run with which all runs cost `total`; an error if the runs alone cost
// more.
Result<double> remaining_epsilon(const std::vector<Runs>& runs, double total, double delta);

}  // namespace hyfreedp::analytic
