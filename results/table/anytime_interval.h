// An interval for a mean that holds however often it is looked at, so that a study may go on until
// its interval says enough.
//
// A t-interval at confidence 95 % misses the mean in 5 % of the studies that look once. Whoever
// looks after every value, and stops when the interval excludes 0, is wrong far more often. The
// intervals here miss it at any of all looks in at most 1 - `level` of the studies, if the values
// are independent and normal with one mean and one variance, both unknown:
//
//   { m : E_n(m) < 1 / (1 - level) },
//   E_n(m) = sqrt(1 / (1 + n g)) [ (1 + u) / (1 + u / (1 + n g)) ]^(n / 2),   u = t^2 / (n - 1)
//
// with t the t-statistic of n values less m. E_n(m) is the Bayes factor of the t-test whose effect
// size is normal with variance g under the alternative and whose scale has the right Haar prior. It
// is a martingale at the true mean with expectation 1 (Perez-Ortiz, Lardy, de Heide and Gruenwald,
// "E-statistics, group invariance and anytime-valid testing", Annals of Statistics 52, 2024; Wang
// and Ramdas, "Anytime-valid t-tests and confidence sequences for Gaussian means with unknown
// variance", Sequential Analysis 44, 2025), so by Ville's inequality it ever reaches 1 / (1 -
// level) with probability at most 1 - level.
//
// Values that are not normal: of exponential ones the mean is missed in about 11 % of studies with
// looks from 3 to 20 values at 95 %, of ones with heavy tails (t of 3 degrees of freedom) in about
// 1 %. Differences of two accuracies over test sets of thousands are near normal; runs that
// collapse in some seeds are not.
//
//   g = 3   chosen beforehand: near the shortest intervals of 5 to 20 values. At 95 % the half
//           width is 2.5 sample standard deviations of 5 values, 1.2 of 10, 0.8 of 20
#pragma once

#include <optional>
#include <span>

#include "results/table/statistics.h"

namespace hyfreedp::results {

// None if the values say nothing yet: fewer than two, all equal, or too few for any bound.
std::optional<Interval> anytime_interval(std::span<const double> values, double level);

}  // namespace hyfreedp::results
