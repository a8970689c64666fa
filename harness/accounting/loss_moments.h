// Moments of the privacy loss by quadrature: log E_Q[e^{a L}] for real a, without cancellation.
//
// The trapezoid rule in x converges geometrically here: the integrand is analytic in the strip |Im
// x| < pi sigma^2 (where 1 - q + q e^y first vanishes) and decays like a Gaussian. The step keeps
// the error below 1e-14.
#pragma once

#include <vector>

#include "harness/accounting/loss_pair.h"

namespace hyfreedp::accounting {

struct LossNode {
  double log_weight = 0;  // of Q
  double loss = 0;
  double excess = 0;  // e^loss - 1
};

// Quadrature nodes that are accurate for every order a in [lowest, highest].
std::vector<LossNode> loss_nodes(const LossPair& pair, double lowest, double highest);
// Quadrature nodes for planning, on the part of the line outside of which P has at most the mass
// `above` and Q at most `below`. Losses are capped at the two end points; otherwise the far tail
// would dominate the moments of high order.
std::vector<LossNode> central_nodes(const LossPair& pair, double below, double above);

// log E_Q[e^{a L}] = (a - 1) D_a(P || Q) for a > 1 or a < 0. The relative error is small even where
// the value is; that E_Q[e^L] = 1 was used in deriving the form that is computed.
double log_moment(const std::vector<LossNode>& nodes, double order);

// The distribution tilted by e^{a L} under Q: log normaliser, mean and variance of L.
struct TiltedLoss {
  double log_normaliser = 0;
  double mean = 0;
  double variance = 0;
};
TiltedLoss tilted_loss(const std::vector<LossNode>& nodes, double order);

}  // namespace hyfreedp::accounting
