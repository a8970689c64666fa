// The binomial distribution's tails and the confidence bounds that follow from them.
//
//   upper bound  the p with P(Bin(n, p) <= k) = rate: the (1 - rate) quantile of
//                Beta(k + 1, n - k); 1 for k = n
//   lower bound  the p with P(Bin(n, p) >= k) = rate: the rate quantile of Beta(k, n - k + 1); 0
//                for k = 0
// Each holds with probability at least 1 - rate whatever p is (Clopper & Pearson, Biometrika 26,
// 1934). With n = 0 nothing is known: 1 and 0.
#pragma once

#include <cstdint>

namespace hyfreedp::audit {

// P(Bin(n, p) <= k) and P(Bin(n, p) >= k), accurate in relative terms. n >= 0, p in [0, 1], any k.
double binomial_at_most(std::int64_t k, std::int64_t n, double p);
double binomial_at_least(std::int64_t k, std::int64_t n, double p);
// Twice the smaller tail, at most 1: a p-value of "this is Bin(n, p)".
double binomial_two_sided(std::int64_t k, std::int64_t n, double p);

// One-sided bounds on p after k of n, 0 <= k <= n; each fails with probability at most `rate` in
// (0, 1).
double binomial_upper_bound(std::int64_t k, std::int64_t n, double rate);
double binomial_lower_bound(std::int64_t k, std::int64_t n, double rate);

}  // namespace hyfreedp::audit
