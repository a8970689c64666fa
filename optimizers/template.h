// Signum: a step of one size in every coordinate, along the sign of a running mean of the
// gradients.
//
//   m <- beta1 m + (1 - beta1) g,  m = 0 at first
//   u  = sign(m), with sign(0) = 0 and sign(NaN) = NaN
//
// Source: Bernstein et al. 2018, arXiv:1802.04434, algorithm 2.
#pragma once

#include <memory>

#include "optimizers/optimizer.h"
#include "optimizers/options.h"

namespace hyfreedp::optimizers {

Result<std::unique_ptr<Optimizer>> make_signum(const SignumOptions& options);

}  // namespace hyfreedp::optimizers
