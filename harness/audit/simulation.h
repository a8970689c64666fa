// Draws of the total privacy loss of a composition, for the ledger audit
// (formulas in ledger_tests.h).
#pragma once

#include <vector>

#include "harness/accounting/mechanism.h"
#include "harness/random/stream.h"

namespace hyfreedp::audit {

// The tilted distribution of one step's x: N(k, sigma^2) with cumulative probability
// `cumulative[k]`.
struct TiltedStep {
  accounting::Mechanism mechanism;
  std::vector<double> cumulative;
  double log_normaliser = 0;  // log E_P[e^{theta L}] of one step
};

struct Tilt {
  int order = 1;              // a = 1 + theta
  double log_normaliser = 0;  // of the whole composition
  double log_bound = 0;       // of X
  std::vector<TiltedStep> steps;
};

// P itself (order 1, X <= 1).
Tilt untilted(const std::vector<accounting::Mechanism>& mechanisms);
// The whole order in 2 .. 256 with the smallest bound on X at `epsilon`.
Tilt best_tilt(const std::vector<accounting::Mechanism>& mechanisms, double epsilon);

// Total losses of runs [first, first + count): under the tilted P, or (add direction) minus the
// losses under Q.
std::vector<double> draw_tilted(const Tilt& tilt, const random::Key& key, std::int64_t first,
                                std::int64_t count);
std::vector<double> draw_added(const std::vector<accounting::Mechanism>& mechanisms, const random::Key& key,
                               std::int64_t first, std::int64_t count);

}  // namespace hyfreedp::audit
