// GeN: the learning rate is fitted to exact losses on a grid of step lengths. For runs without
// privacy only.
//
// Every K steps the losses at w - k eta u, k = -pairs .. pairs, are fitted by a parabola
// (quadratic_fit.h); an accepted fit changes eta by the rule `gen` of acceptance.h. With more than
// three points a fit must also reach r2_min. The controller asks for losses with an infinite bound,
// so a private plan refuses it.
//
// The authors' code calls the optimizer twice per step to learn the direction, so its moments
// advance twice; here the direction is pure and they advance once.
// Source: Bu and Xu 2024 (arXiv:2407.02772) and its public code.
#pragma once

#include <memory>

#include "optimizers/learning_rate.h"
#include "optimizers/options.h"

namespace hyfreedp::optimizers {

Result<std::unique_ptr<LearningRateController>> make_gen(const GenOptions& options);

}  // namespace hyfreedp::optimizers
