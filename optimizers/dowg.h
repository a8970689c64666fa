// DoWG, distance over weighted gradients. Owns its step size.
//
//   r^2 = max(start, ||x_i - x0||^2 so far)
//   v = sum of r_i^2 ||g_i||^2 so far (this step's included)
//   u = lr r^2 / (sqrt(v) + eps_den) g, and u = 0 where that denominator is 0
//
// start: (reps_rel (1 + ||x0||))^2, or rt2_init where given (the authors' code: 1e-4, with eps_den
// 1e-4). Source: Khaled, Mishchenko and Jin 2023 (arXiv:2305.16284), algorithm 1.
#pragma once

#include <memory>

#include "optimizers/optimizer.h"
#include "optimizers/options.h"

namespace hyfreedp::optimizers {

Result<std::unique_ptr<Optimizer>> make_dowg(const DowgOptions& options);

}  // namespace hyfreedp::optimizers
