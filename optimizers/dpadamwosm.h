// DPAdamWOSM: Adam without a second moment; the denominator is the known scale of the privacy
// noise.
//
//   g' = g + weight_decay * w
//   m <- beta1 m + (1 - beta1) g'
//   u = m / (1 - beta1^t) / (sigma C / B + xi)
//
// sigma is the noise multiplier, C the clipping norm (sensitivity), B the public divisor, g the
// privatized mean gradient. xi stands outside the root (theorem 3). In a run without privacy,
// sigma = 0, the denominator is xi alone and the step is very large: such a run needs a larger xi.
//
// Source: Mohapatra, Sasy, He, Kamath and Thakkar 2022 (arXiv:2111.04906), section 6 and theorem 3.
#pragma once

#include <memory>

#include "optimizers/optimizer.h"
#include "optimizers/options.h"

namespace hyfreedp::optimizers {

struct WosmRule : DpAdamWosmOptions {
  double denominator = 1;  // sigma C / B + xi
};

// Step t >= 1 by tensor operations; updates `moment` [d].
void wosm_direction(const WosmRule& rule, std::int64_t t, const torch::Tensor& gradient,
                    const torch::Tensor& parameters, torch::Tensor& moment, torch::Tensor& direction);
// The same as one pass over dense CPU vectors of one floating type, cut into pieces (optimizer.h).
PieceWork wosm_pieces(const WosmRule& rule, std::int64_t t, const torch::Tensor& gradient,
                      const torch::Tensor& parameters, torch::Tensor& moment, torch::Tensor& direction);

Result<std::unique_ptr<Optimizer>> make_dpadamwosm(const DpAdamWosmOptions& options);

}  // namespace hyfreedp::optimizers
