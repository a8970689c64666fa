// Prodigy: Adam whose step size is an estimate d of the distance to the solution. Owns its step
// size.
//
// Step k = 0, 1, .. with gradient g, weights x, old d, lr the multiplier, L = d lr bc,
// bc = sqrt(1 - beta2^(k+1)) / (1 - beta1^(k+1)) or 1:
//   num <- beta3 num + (d/d0) L <g, x0 - x>
//   m   <- beta1 m + (1 - beta1) d g,   v <- beta2 v + (1 - beta2) d^2 g^2
//   s   <- beta3 s + (d/d0) L g         (safeguard_warmup: d in place of L)
//   d^  =  d_coef num / ||s||_1;  d = max(d, d^) while d = d0;  d_max = max(d_max, d^)
//   d   <- min(d_max, d growth_rate)
//   u   =  L m / (sqrt(v) + d eps) + L weight_decay x, L with the old d, eps with the new one
// decouple = false adds weight_decay x to g before everything else. slice_p > 1 takes num and s
// over every p-th entry of each tensor. The default of beta3 is sqrt(beta2).
//
//   ||s||_1 = 0 (only zero gradients so far) or lr = 0 | no step, k and num stay
//   d^ not finite                                      | d stays
//
// Source: Mishchenko and Defazio 2024 (arXiv:2306.06101), the Adam version, as in the authors'
// prodigyopt 1.1.2.
#pragma once

#include <memory>

#include "optimizers/optimizer.h"
#include "optimizers/options.h"

namespace hyfreedp::optimizers {

Result<std::unique_ptr<Optimizer>> make_prodigy(const ProdigyOptions& options);

}  // namespace hyfreedp::optimizers
