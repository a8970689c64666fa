// Bootstrap interval of a mean: bias-corrected and accelerated (BCa; Efron 1987, "Better bootstrap
// confidence intervals", eqs. 2.3 and 6.6), with resamples drawn from a fixed seed, so that a table
// is the same each time.
//
//   bias          z0 = Phi^-1(share of resampled means below the mean, ties counted by half)
//   acceleration  a = sum d_i^3 / (6 (sum d_i^2)^1.5), d_i = mean of the leave-one-out means less
//                 the i-th of them
//   bounds        quantiles of the resampled means at Phi(z0 + (z0 + z) / (1 - a (z0 + z))),
//                 z = Phi^-1((1 -+ level) / 2)
// There is no interval if n < 2 or if all values are equal. It is too narrow for few values: of 5
// normal values, a 95 % interval covers the mean in about 83 % of cases, of 3 in about 70 %
// (tests/results/bootstrap_test.cpp); the t-interval has the right coverage there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "results/table/statistics.h"

namespace hyfreedp::results {

inline constexpr int kBootstrapResamples = 10000;
inline constexpr std::uint64_t kBootstrapSeed = 20240229;

std::optional<Interval> bootstrap_interval(std::span<const double> values, double level,
                                           int resamples = kBootstrapResamples,
                                           std::uint64_t seed = kBootstrapSeed);

}  // namespace hyfreedp::results
