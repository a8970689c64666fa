// HyFreeDP+ (ours): HyFreeDP's private parabola with a probe radius h apart from the learning rate eta.
//
// The published rule probes at eta itself; while eta is small the curvature is invisible under the loss
// noise, G / H is a ratio of noises, and eta falls towards 0. Here the radius is found first, from public
// noise levels, and the rate is fitted at that radius. s is the public sd of the noise in each private loss.
// Every K steps, at w, w - h u, w + h u:
//   a = (L+ + L- - 2 L0) / h^2   with sd_a = sqrt(6) s / h^2          (curvature)
//   b = (L- - L+) / (2 h)        with sd_b = s / (sqrt(2) h)          (slope)
//   A, B: their precision-weighted running means, earlier precision times rho at each probe;
//         sd_A, sd_B: 1 / sqrt(running precision)
//   radius, from this probe alone, within [eta, radius_max]:
//     a <= low sd_a:    h <- 2 h
//     a >  high sd_a:   h <- h/2
//   rate, where A > low sd_A (else it stays: doubling it while the curvature is invisible overshoots):
//     B < -low sd_B:    eta <- eta/2          (a real ascent direction; B < 0 within the noise is not)
//     else:             eta <- max(B, sd_B) / A within [eta/2, 2 eta]; the first time within [eta/2, h]
// The loss bound: first 2 ln(classes), so that a zero-initialised head's losses are not all clipped; then the
// sum of the three private losses (the centre loss would shrink it at every probe and adds concavity).
// Everything is a function of private outputs and public constants.
//
//   a loss is not finite             | nothing changes, counted as nonfinite_loss
//   s = 0 (a run without privacy)    | s is taken as 1e-7 max(1, |L0|), the rounding of float32 losses
//
// Decisions: accepted, slope_negative, curvature_invisible, nonfinite_loss.
// Source: this project; the fit is Liu and Bu, ICLR 2025, eq. 6.
#pragma once

#include <memory>

#include "optimizers/learning_rate.h"

namespace hyfreedp::optimizers {

Result<std::unique_ptr<LearningRateController>> make_hyfreedp_plus(const json::object& options);

}  // namespace hyfreedp::optimizers
