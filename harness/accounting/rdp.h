// Renyi differential privacy of elementary mechanisms and its conversions.
#pragma once

#include <vector>

#include "harness/accounting/accountant.h"
#include "harness/accounting/mechanism.h"

namespace hyfreedp::accounting {

// D_alpha of one use of the mechanism (count ignored), alpha > 1: the larger of both directions. For the subsampled
// Gaussian under add/remove that is D_alpha(P || Q) (Mironov, Talwar & Zhang 2019, Theorem 5): the finite binomial sum at
// integer orders, quadrature at others. Full-batch Gaussian: alpha / (2 sigma^2) (twice the distance: four times that).
double renyi_divergence(const Mechanism& mechanism, Neighbouring neighbouring, double alpha);

// Epsilon at delta of a mechanism whose divergence at `alpha` is `divergence`.
//   canonne_kamath_steinke  R + log(1 - 1/alpha) - log(alpha delta) / (alpha - 1)
//   mironov                 R + log(1/delta) / (alpha - 1)
// never below 0; 0 where delta^2 > 1 - e^-R (Bretagnolle-Huber) already certifies it.
double epsilon_from_renyi(double divergence, double alpha, double delta, Conversion conversion);

// Delta at epsilon >= 0 by the same conversion: the smallest over the orders.
double delta_from_renyi(const std::vector<double>& divergences, const std::vector<double>& orders,
                        double epsilon);

// The curve of a split at `orders`; refuses Liu-Talwar selections, which have none.
Result<std::vector<double>> renyi_curve(const SplitContent& content, Neighbouring neighbouring,
                                        const std::vector<double>& orders);

}  // namespace hyfreedp::accounting
