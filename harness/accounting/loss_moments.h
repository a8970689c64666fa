// Exact moments of the privacy loss by quadrature: log E_Q[e^{a L}] for real a, without cancellation.
//
// The trapezoid rule in x converges geometrically here: the integrand is analytic in the strip |Im x| < pi sigma^2
// (where 1 - q + q e^y first vanishes) and decays like a Gaussian. The step keeps the error below 1e-14.
#pragma once

#include <vector>

#include "harness/accounting/loss_pair.h"

namespace hyfreedp::accounting {

struct LossNode {
  double log_weight = 0;  // of Q
  double loss = 0;
  double excess = 0;  // e^loss - 1
};

// Nodes good for every order a in [lowest, highest].
std::vector<LossNode> loss_nodes(const LossPair& pair, double lowest, double highest);
// Nodes on the part of the line where P keeps all but `above` and Q all but `below`, for planning at any order; losses
// are capped at those two points, or the far tail would decide the moments of high order.
std::vector<LossNode> central_nodes(const LossPair& pair, double below, double above);

// log E_Q[e^{a L}] = (a - 1) D_a(P || Q), a > 1 or a < 0, relative to its own size (E_Q[e^L] = 1 is used on paper).
double log_moment(const std::vector<LossNode>& nodes, double order);

// The distribution tilted by e^{a L} under Q: log normaliser, mean and variance of L.
struct TiltedLoss {
  double log_normaliser = 0;
  double mean = 0;
  double variance = 0;
};
TiltedLoss tilted_loss(const std::vector<LossNode>& nodes, double order);

}  // namespace hyfreedp::accounting
