// Adam and AdamW, with or without AMSGrad, as torch.optim.Adam and torch.optim.AdamW.
//
//   Adam:  g' = g + weight_decay * w; AdamW: g' = g
//   m <- beta1 m + (1 - beta1) g' and v <- beta2 v + (1 - beta2) g'^2
//   v^ <- max(v^, v) with amsgrad, else v^ = v
//   u = m / (1 - beta1^t) / (sqrt(v^ / (1 - beta2^t)) + eps)  [AdamW: + weight_decay * w]
//
// Source: Kingma and Ba 2015 (arXiv:1412.6980), algorithm 1; Loshchilov and Hutter 2019
// (arXiv:1711.05101), algorithm 2; Reddi, Kale and Kumar 2018 (AMSGrad). t counts from 1.
#pragma once

#include <memory>

#include "optimizers/adam_pass.h"
#include "optimizers/optimizer.h"
#include "optimizers/options.h"

namespace hyfreedp::optimizers {

struct AdamMoments {
  torch::Tensor first;           // m [d]
  torch::Tensor second;          // v [d]
  torch::Tensor largest_second;  // v^ [d], defined with amsgrad only
};

// Step t >= 1 by tensor operations. Updates the moments, [d] each, and writes `direction` [d].
void adam_direction(const AdamRule& rule, std::int64_t t, const torch::Tensor& gradient,
                    const torch::Tensor& parameters, AdamMoments& moments, torch::Tensor& direction);
// The same as one pass over dense CPU vectors of one floating type, cut into pieces (optimizer.h).
PieceWork adam_pieces(const AdamRule& rule, std::int64_t t, const torch::Tensor& gradient,
                      const torch::Tensor& parameters, AdamMoments& moments, torch::Tensor& direction);

Result<std::unique_ptr<Optimizer>> make_adam(const AdamOptions& options);
Result<std::unique_ptr<Optimizer>> make_adamw(const AdamwOptions& options);

}  // namespace hyfreedp::optimizers
