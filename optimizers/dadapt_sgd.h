// D-Adaptation for SGD (dual averaging). Owns its step size.
//
// ||g0|| is the norm of the first gradient, before weight decay, and stays. Step k with gradient g
// (weight_decay x added), weights x, old d, L = d lr / ||g0||:
//   num <- num + L <g, s>,   s <- s + L g
//   d^  =  2 num / ||s||_2,  d <- max(d, min(d^, d growth_rate))
//   x_new = momentum x + (1 - momentum)(x0 - s);  u = x - x_new
//
//   gradient exactly 0 and ||g0|| not set | no step, k stays 0, ||g0|| comes from the first other
//   gradient
//                                         | (the authors' code divides by zero there)
//   lr = 0                                | s and d stay
//   d^ not finite                         | d stays
//
// Under differential privacy ||g0|| is mostly the norm of the noise.
// Source: Defazio and Mishchenko 2023 (arXiv:2301.07733), the SGD version, as in the authors'
// dadaptation 3.2.
#pragma once

#include <memory>

#include "optimizers/optimizer.h"
#include "optimizers/options.h"

namespace hyfreedp::optimizers {

Result<std::unique_ptr<Optimizer>> make_d_adapt_sgd(const DAdaptSgdOptions& options);

}  // namespace hyfreedp::optimizers
