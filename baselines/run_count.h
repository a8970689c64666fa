// The number of runs that a private selection makes, and their candidates: Papernot & Steinke,
// ICLR 2022, Definition 1 and Theorems 2 and 6.
//
//   geometric    P(K = k) = (1 - g)^{k-1} g for k >= 1, with mean 1/g (negative binomial, eta = 1)
//   logarithmic  P(K = k) = (1 - g)^k / (k ln(1/g)) for k >= 1, with mean (1/g - 1)/ln(1/g)
//                (eta = 0)
//   poisson      P(K = k) = e^-m m^k / k! for k >= 0, with mean m; with probability e^-m nothing is
//                run
//   liu_talwar   as geometric, priced by Liu & Talwar 2019, Theorem 3.4 in the form of Mohapatra et
//                al. (accounting/selection.h). Its limit of 46/g runs is never reached: the largest
//                uniform below 1 gives 37/g runs
//
// K must be random and stay hidden, because the theorems price the release of the best run only.
#pragma once

#include <cstdint>
#include <string>

#include "harness/accounting/event.h"
#include "harness/base/result.h"

namespace hyfreedp::baselines {

enum class RunCount { geometric, logarithmic, poisson, liu_talwar };
BOOST_DESCRIBE_ENUM(RunCount, geometric, logarithmic, poisson, liu_talwar)

// The g that gives the mean number of runs `mean` > 1.
double geometric_parameter(double mean);
double logarithmic_parameter(double mean);

// The smallest k whose cumulative probability exceeds `uniform` in [0, 1). `parameter` is g, or the
// mean of the Poisson distribution.
std::int64_t run_count(RunCount distribution, double parameter, double uniform);
// The candidate of a draw: floor(uniform * candidates).
std::int64_t pick(double uniform, std::int64_t candidates);

// The selection as an event for the accountant; the caller fills in the base events.
accounting::Selection selection_of(RunCount distribution, double mean);

}  // namespace hyfreedp::baselines
