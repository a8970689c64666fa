// The smallest true difference that a comparison of this size would have found.
//
// A two-sided paired t-test at `significance` over n differences with standard deviation `sd` finds
// a true mean difference d with probability P(|T| > t_{1 - significance/2, n-1}), where T is
// noncentral t with n - 1 degrees of freedom and noncentrality d sqrt(n) / sd. This is solved for d
// at the given `power`. It describes what the experiment could detect and not what is true; as sd
// is estimated from the same few differences, it is uncertain itself. None if n < 2 or sd = 0.
#pragma once

#include <optional>

namespace hyfreedp::results {

std::optional<double> detectable_difference(double sd, int n, double significance = 0.05, double power = 0.8);

}  // namespace hyfreedp::results
