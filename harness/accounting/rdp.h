// Renyi differential privacy of elementary mechanisms and its conversions.
#pragma once

#include <vector>

#include "harness/accounting/accountant.h"
#include "harness/accounting/mechanism.h"

namespace hyfreedp::accounting {

// The Renyi divergence D_alpha, alpha > 1, of one step of the mechanism (`count` is ignored): the
// larger of both directions. For the subsampled Gaussian under add/remove this is D_alpha(P || Q)
// (Mironov, Talwar & Zhang 2019, Theorem 5), computed by the finite binomial sum at integer orders
// and by quadrature at others. For the full-batch Gaussian it is alpha / (2 sigma^2), and four
// times that under replace-one.
double renyi_divergence(const Mechanism& mechanism, Neighbouring neighbouring, double alpha);

// The epsilon at `delta` of a mechanism whose divergence at `alpha` is R = `divergence`.
//   canonne_kamath_steinke  R + log(1 - 1/alpha) - log(alpha delta) / (alpha - 1)
//   mironov                 R + log(1/delta) / (alpha - 1)
// The result is never negative; it is 0 where delta^2 > 1 - e^-R certifies epsilon 0
// (Bretagnolle-Huber).
double epsilon_from_renyi(double divergence, double alpha, double delta, Conversion conversion);

// Delta at epsilon >= 0 by the same conversion: the smallest over the orders.
double delta_from_renyi(const std::vector<double>& divergences, const std::vector<double>& orders,
                        double epsilon);

// The Renyi curve of a split at `orders`. Liu-Talwar selections have no such curve and are an
// error.
Result<std::vector<double>> renyi_curve(const SplitContent& content, Neighbouring neighbouring,
                                        const std::vector<double>& orders);

}  // namespace hyfreedp::accounting
