// Private selection: run a mechanism a random number K of times and release only the best run's output.
//
//   truncated negative binomial  Papernot & Steinke 2022, Theorem 2: for every order b,
//       R'(a) <= R(a) + (1 + eta)(1 - 1/b) R(b) + (1 + eta) log(1/gamma) / b + log(E[K]) / (a - 1)
//     eta = 1: geometric, eta = 0: logarithmic; gamma in (0, 1] is fixed by the mean, K >= 1.
//   Poisson                      ibid., Theorem 6: with e = log(1 + 1/(a - 1)) and the run (e, d)-DP,
//       R'(a) <= R(a) + E[K] d + log(E[K]) / (a - 1)
//     K = 0, and nothing released, with probability e^-mean. The theorem leaves this output out, and below a mean of 1 it
//     would price less than nothing. There, with x = (a - 1) R(a), y = (a - 1) E[K] d and any mean,
//       R'(a) <= log(1 + E[K] e^y (e^x - 1)) / (a - 1).
//     Proof: with q, q' the distribution functions of the run's output on both data sets and r = dq/dq', the a-th moment is
//     e^-mean + mean * integral of r^a g dq', where g = exp(-a mean (1 - q) + (a - 1) mean (1 - q')) <= e^y as in the
//     theorem. Since r^a >= a r - (a - 1), the integral of r^a (e^y - g) dq' is at least e^y - (1 - e^-mean) / mean, and the
//     integral of r^a dq' is at most e^x. From e^y mean >= 1 on this is at most the theorem's bound, which so holds with
//     K = 0 counted; the theorem prices a mean from 1 on.
//   Liu-Talwar                   Liu & Talwar 2019, Theorem 3.4 with the form used by Mohapatra et al. 2021: a geometric
//     number of runs with stopping probability 1/mean, run (e1, d1)-DP, costs 3 e1 + 3 sqrt(2 d1) at
//     sqrt(2 d1) log(1/d2) mean + d2, d2 = 1e-20.
#pragma once

#include <vector>

#include "harness/accounting/rdp.h"

namespace hyfreedp::accounting {

// E[K] of the truncated negative binomial and its inverse, log(1/gamma), never below the true one beyond rounding
// (mean >= 1, eta > -1).
double mean_from_gamma(double eta, double gamma);
double log_inverse_gamma_from_mean(double eta, double mean);

// The curve after selection, `base` being the run's curve at `orders`. It is non-increasing when read from the highest
// order down (a Renyi divergence grows with its order, and each entry is a bound), which tightens the low orders.
std::vector<double> selection_curve(const SelectionItem& item, const std::vector<double>& base,
                                    const std::vector<double>& orders);

// d1 such that the whole costs delta; an error where delta <= 1e-20.
Result<double> liu_talwar_run_delta(double mean, double delta);

}  // namespace hyfreedp::accounting
