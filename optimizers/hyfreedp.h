// HyFreeDP as printed: the learning rate is the minimum of a parabola through three private losses.
//
// Every K steps (t % K == 0, so ceil(T/K) probes) the private losses at w, w - eta u and w + eta u
// give
//   H = (L+ + L- - 2 L0) / eta^2, G = (L- - L+) / (2 eta), eta <- G / H (eq. 6, quadratic_fit.h)
// An unusable fit keeps eta and is counted by reason; what an accepted fit does is the option
// `acceptance` (acceptance.h). The loss bound R_l of the next probe comes from this probe's private
// losses (`R_l_mode`).
//
// Readings of what the paper leaves open: an abscissa is a step length along -u, so that G / H is
// positive on a descent direction (algorithm 1, line 7 and eq. 6 disagree in sign); all three
// losses use the bound of the previous probe.
//
// pairs p above 1 (ours; the paper draws five losses in figure 2 and uses three): the losses
// at w and at w -+ k eta u, k = 1 .. p, fitted by least squares through the one at w, however far
// from it the others lie. A probe then has 2p + 1 releases, and the budget is divided accordingly.
//
// release paired (ours; the default is the published form): beside L0 the two differences from it
// are released, each sample's difference clamped to difference_share R_l (learning_rate.h). The
// noise in G and H falls by that factor; where samples' losses change by more, the fit is biased.
//
// At small eta the probe's differences are smaller than the noise
// (sd of G: sigma_l R_l / (sqrt(2) B eta), of H: sqrt(6) sigma_l R_l / (B eta^2)). Then G / H is a
// ratio of noises of order eta, and eta tends to 0. Where G is above some two deviations, eta rises
// although H is still noise. HyFreeDP+ (hyfreedp_plus.h) avoids this.
// Scalars curvature_to_noise and slope_to_noise: H and G over these deviations, of what was
// released and what is public. Where most probes have H below twice its deviation, the outcome is
// "curvature within its noise".
// Source: Liu and Bu, "Towards Hyperparameter-Free Optimization with Differential Privacy", ICLR
// 2025, algorithm 1, eq. 5 to 7.
#pragma once

#include <memory>

#include "optimizers/learning_rate.h"
#include "optimizers/options.h"

namespace hyfreedp::optimizers {

Result<std::unique_ptr<LearningRateController>> make_hyfreedp(const HyFreeDpOptions& options);

}  // namespace hyfreedp::optimizers
