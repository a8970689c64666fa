// What follows from a fit for the step size, and from a probe for the loss bound.
//
// The step size, from the present eta and the fit's minimum eta* = G / H:
//   raw    fit accepted: eta*; else eta (HyFreeDP as printed)
//   clamp  fit accepted: clamp(eta*, eta/2, 2 eta); else eta
//   gen    fit accepted: (1 - smoothing) eta + smoothing scale clamp(eta*, eta/2, 2 eta); a loss
//          not finite: eta/2; else eta (the public GeN code)
//
// The loss bound R_l of the next probe, from this probe's private losses, is the loss at w (center)
// or the sum of all of them (sum; Liu and Bu: "in practice"). If it is not finite, R_l stays. R_l
// changes by at most the factor `change` and never falls below `floor`.
//
// Source: Liu and Bu, ICLR 2025, algorithm 1; Bu and Xu 2024 (arXiv:2407.02772) and its public
// code.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "harness/base/json.h"

namespace hyfreedp::optimizers {

enum class Acceptance { raw, clamp, gen };

struct AcceptanceRule {
  Acceptance policy = Acceptance::raw;
  double smoothing = 0.1;
  bool linear_scale = false;  // scale 1 - t/T instead of 1
};
// Reads the options acceptance (if the table has it), smoothing and gen_scale.
AcceptanceRule acceptance_of(const json::object& options);

double next_rate(const AcceptanceRule& rule, const std::string& decision, double eta, double eta_star,
                 double progress);  // progress: t/T

struct LossBoundRule {
  bool center = false;
  double floor = 1e-3;
  double change = std::numeric_limits<double>::infinity();  // factor >= 1
};
LossBoundRule loss_bound_of(const json::object& options);

// Bound of a sample's difference of losses over R_l, from the options release and
// difference_share; 0: each loss is a release of its own.
double difference_share_of(const json::object& options);

double next_loss_bound(const LossBoundRule& rule, double bound, const std::vector<double>& abscissas,
                       const std::vector<double>& losses);

}  // namespace hyfreedp::optimizers
