// ADADP: the step size follows the difference between one full and two half steps. Owns its step
// size.
//
// Calls come in pairs, each with its own privatized gradient, so a run of T gradients makes T/2
// updates:
//   even call: full = x - lr g, then the first half step x <- x - lr/2 g
//   odd call:  y = x - lr/2 g';  err = || (full - y) / max(1, |full|) ||_2
//              if err > tol and stability_check, x returns to where the pair began; else x <- y
//              lr <- lr clip((tol/err)^exponent, amin, amax)
// Everything is expressed as a direction u = x_old - x_new; the contract's learning rate multiplies
// lr.
//
//   err = tol        | kept
//   err = 0          | the factor is amax
//   err not finite   | the pair is taken back whatever stability_check says, the factor is amin
//
// Source: Koskela and Honkela 2020 (arXiv:1809.03832). The rule is that of the authors' published
// code, with the error norm over all parameters.
#pragma once

#include <memory>

#include "optimizers/optimizer.h"
#include "optimizers/options.h"

namespace hyfreedp::optimizers {

Result<std::unique_ptr<Optimizer>> make_adadp(const AdadpOptions& options);

}  // namespace hyfreedp::optimizers
