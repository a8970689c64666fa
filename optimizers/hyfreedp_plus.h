// HyFreeDP+ (ours): HyFreeDP's private parabola with a probe radius h that is separate from the
// learning rate eta, and a rate that follows the mean of all fits instead of the last one.
//
// Why (numbers: baselines/README.md): the published rule probes at eta itself. While eta is small,
// slope and curvature are smaller than the loss noise, G / H is a ratio of noises, and eta falls
// towards 0. Once the curvature is visible, G / H is the best rate of this one step, which is two
// to four times the best rate of a run, because the momentum in u hides most of the noise that
// stays in the weights. Taking that rate moves the weights to where the loss is flatter, and the
// next fit is larger still.
//
// s is the public sd of the noise in each private loss. Every K steps, at w, w - h u, w + h u:
//   a = (L+ + L- - 2 L0) / h^2   with sd_a = sqrt(6) s / h^2          (curvature)
//   b = (L- - L+) / (2 h)        with sd_b = s / (sqrt(2) h)          (slope)
// For a paired release (hyfreedp.h), s is the sd of the noise in L+ - L0 and L- - L0, and
// sd_a = sqrt(2) s / h^2.
//   A, B: their precision-weighted running means, earlier precision times rho at each probe;
//         sd_A, sd_B: 1 / sqrt(running precision)
//   radius, from this probe alone, within [eta, min(reach eta, radius_max)]:
//     |a| <= low sd_a:                      h <- 2 h
//     a < -low sd_a, or a > high sd_a:      h <- h/2    (bent down by clipped losses: too wide)
//     (below reach eta only once a rate has been fitted or raised)
//   rate, while t < until T (then it is held), with `fits: mean`; r0 = eta / share is the mean in
//   force:
//     A > low sd_A:    r = max(B, sd_B) / A within [r0/3, 3 r0], the n-th fit;
//                      m <- m + (ln r - m) / n;  eta = share exp(m)
//     with start_weight w > 0, m begins at ln(eta0 / share), which counts as w fits in n
//     before the first fit, where B > low sd_B, the climb from eta0, which counts as one fit in n:
//       A > low sd_A and B / A > 3 r0:      eta <- 3 eta
//       else r = B / (max(A, 0) + low sd_A), a lower bound of the best rate, where it exceeds r0:
//                                           eta <- share min(r, 3 r0)
//   `fits: last`, the first version of this method, A > low sd_A:
//     B < -low sd_B:   eta <- eta/2
//     else:            eta <- max(B, sd_B) / A within [eta/2, 2 eta]; the first time within
//                      [eta/2, h]
// The loss bound is at first 2 ln(classes), so that not all losses of a zero-initialised head are
// clipped; then it is the sum of the three private losses, but at least ln(classes), the loss of
// guessing. Without that floor the bound falls to 0 once two thirds of the samples are fitted well,
// because the sum of clipped losses bounds the next ones. Everything is a function of private
// outputs and public constants.
//
//   a loss is not finite             | nothing changes, counted as nonfinite_loss
//   s = 0 (a run without privacy)    | s is taken as 1e-7 max(1, |L0|), the rounding of float32
//                                    losses
//   one class or none known          | taken as two
//
// Decisions: accepted, raised, slope_negative (with `mean` the fit counts, as a small one),
// curvature_invisible, held, nonfinite_loss. Source: this project; the fit is Liu and Bu, ICLR
// 2025, eq. 6.
#pragma once

#include <memory>

#include "optimizers/learning_rate.h"
#include "optimizers/options.h"

namespace hyfreedp::optimizers {

Result<std::unique_ptr<LearningRateController>> make_hyfreedp_plus(const HyFreeDpPlusOptions& options);

}  // namespace hyfreedp::optimizers
