// D-Adaptation for Adam: the step size is a lower bound d of the distance to the solution. Owns its
// rate.
//
// Step k = 0, 1, .. with gradient g, weights x, old d, L = d lr bc (bc as in prodigy.h), r_j the
// layer_scale of the tensor that entry j belongs to:
//   a   =  L sum_j r_j g_j s_j / (sqrt(v_j) + eps)                          (old v and s)
//   m   <- beta1 m + (1 - beta1) r L g,   v <- beta2 v + (1 - beta2) g^2
//   s   <- sqrt(beta2) s + (1 - sqrt(beta2)) L g
//   num <- sqrt(beta2) num + (1 - sqrt(beta2)) a
//   d^  =  num / ((1 - sqrt(beta2)) sum_j r_j |s_j|),   d <- max(d, min(d^, d growth_rate))
//   u   =  m / (sqrt(v) + eps) + L weight_decay x
// (with decouple; without it the last term is left out and weight_decay x is added to g)
//
//   ||s||_1 = 0 (only zero gradients so far) or lr = 0 | no step, k and num stay
//   d^ not finite                                      | d stays
//
// Source: Defazio and Mishchenko 2023 (arXiv:2301.07733), the Adam version, as in the authors'
// dadaptation 3.2.
#pragma once

#include <memory>

#include "optimizers/optimizer.h"
#include "optimizers/options.h"

namespace hyfreedp::optimizers {

Result<std::unique_ptr<Optimizer>> make_d_adapt_adam(const DAdaptAdamOptions& options);

}  // namespace hyfreedp::optimizers
