// The rules by which a fit changes the step size, and a probe the loss bound.
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

#include <string>
#include <vector>

#include "optimizers/options.h"

namespace hyfreedp::optimizers {

double next_rate(const AcceptanceOptions& options, const std::string& decision, double eta, double eta_star,
                 double progress);  // progress: t/T

double next_loss_bound(const LossBoundOptions& options, double bound, const std::vector<double>& abscissas,
                       const std::vector<double>& losses);

}  // namespace hyfreedp::optimizers
