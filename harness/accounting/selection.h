// Private selection: a mechanism is run a random number K of times, and only the output of the best
// run is released. R(a) is the Renyi divergence of one run at order a, R'(a) that of the selection.
//
// Truncated negative binomial K (Papernot & Steinke 2022, Theorem 2): for any order b, of
// which the best is taken,
//   R'(a) <= R(a) + (1 + eta)(1 - 1/b) R(b) + (1 + eta) log(1/gamma) / b + log(E[K]) / (a - 1)
// eta = 1 is the geometric, eta = 0 the logarithmic distribution; E[K] >= 1 determines gamma in
// (0, 1].
//
// Poisson K (ibid., Theorem 6): if one run is (e, d)-DP with e = log(1 + 1/(a - 1)),
//   R'(a) <= R(a) + E[K] d + log(E[K]) / (a - 1).
// K = 0 has probability e^-mean; nothing is released then. The theorem leaves this output out, and
// for means below 1 its bound can be negative. This file uses, for means below 1, with x = (a - 1)
// R(a) and y = (a - 1) E[K] d,
//   R'(a) <= log(1 + E[K] e^y (e^x - 1)) / (a - 1),
// which holds for every mean. Proof: let q, q' be the distribution functions of the run's output on
// both data sets and r = dq/dq'. The a-th moment is e^-mean + mean * integral of r^a g dq', where
// g = exp(-a mean (1 - q) + (a - 1) mean (1 - q')) <= e^y as in the theorem (e^y, e^x, e^-mean are
// exponentials). Since r^a >= a r - (a - 1), the integral of r^a (e^y - g) dq' is at least
// e^y - (1 - e^-mean) / mean, and the integral of r^a dq' is at most e^x. Where e^y mean >= 1 this
// is at most the theorem's bound, which therefore holds with K = 0 counted; so the theorem as
// published is used for means from 1 on.
//
// Liu-Talwar (Liu & Talwar 2019, Theorem 3.4, in the form that Mohapatra et al. 2021 use): K is
// geometric with stopping probability 1/mean. If one run is (e1, d1)-DP, the selection costs
// epsilon 3 e1 + 3 sqrt(2 d1) at delta sqrt(2 d1) log(1/d2) mean + d2, with d2 = 1e-20.
#pragma once

#include <vector>

#include "harness/accounting/rdp.h"

namespace hyfreedp::accounting {

// E[K] of the truncated negative binomial from gamma, and log(1/gamma) from E[K] >= 1, for
// eta > -1. log(1/gamma) is never below its true value by more than rounding.
double mean_from_gamma(double eta, double gamma);
double log_inverse_gamma_from_mean(double eta, double mean);

// The curve after the selection, one entry an order. `base` is the curve of one run at `orders`,
// which ascend. A Renyi divergence
// grows with its order and each entry is a bound, so each entry of the result is replaced by the
// smallest at its own and higher orders, which tightens the low orders.
std::vector<double> selection_curve(const SelectionItem& item, const std::vector<double>& base,
                                    const std::vector<double>& orders);

// The d1 for which the whole selection costs `delta`. An error where delta <= 1e-20.
Result<double> liu_talwar_run_delta(double mean, double delta);

}  // namespace hyfreedp::accounting
