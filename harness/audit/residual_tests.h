// Tests that what was added to the clipped sums is the claimed noise, and nothing else.
//
// A residual is (released vector x B - clipped sum) / (sigma_g x sensitivity), N(0, I) when all is
// well. These tests look at residuals one by one; independence_tests.h looks at pairs.
//
//   noise scale          sum of squares, chi-square, two-sided: n entries pin sigma to
//                        1 / sqrt(2 n)
//   noise mean           the grand mean, the means per coordinate together (chi-square) and the
//                        largest of them
//   noise shape          distance of the empirical distribution from N(0, 1), and how many lie
//                        beyond 3, 4 and 5
//   along the clipped sum   a part of the sum itself is left: unclipped samples, divisor = realised
//                           batch size
//   scale against batch size   the noise was divided by the realised batch size
//   loss noise scale, mean, shape   the same for the losses of the probes
#pragma once

#include "harness/audit/plan.h"

namespace hyfreedp::audit {

// An error where vectors differ in length, or a run and step appears twice.
Result<void> check_residuals(const std::vector<StepResiduals>& residuals);
// Plans the test that all values are finite, and returns whether they are. If not, the tests below
// must not be planned.
bool plan_finiteness_test(const std::vector<StepResiduals>& residuals, Plan& plan);
// `residuals` must outlive the plan, here and below.
void plan_residual_tests(const std::vector<StepResiduals>& residuals, Plan& plan);

}  // namespace hyfreedp::audit
