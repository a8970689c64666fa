// SGD with momentum, Nesterov's look-ahead, dampening and coupled weight decay, as torch.optim.SGD.
//
//   g' = g + weight_decay * w
//   b_0 = g',  b_t = momentum * b_{t-1} + (1 - dampening) * g'
//   u   = g' (momentum 0)  |  b_t  |  g' + momentum * b_t (nesterov)
//
// If momentum > 0, this is the DPMomentum of Mohapatra et al. 2022.
//
// free_step (needs momentum): after the last step T, once more w <- w - eta_T b_T. The buffer is
// the one that step T left: it does not decay once more, and takes no gradient. "A final step with
// the same learning rate in the direction of the momentum buffer" (Panda et al., arXiv:2212.04486,
// appendix A.2 of the draft) leaves that open; their code does it so. It is post-processing of
// released values, so it costs no privacy.
// Source: Robbins and Monro 1951; Sutskever et al. 2013.
#pragma once

#include <memory>

#include "optimizers/optimizer.h"
#include "optimizers/options.h"

namespace hyfreedp::optimizers {

// One step by tensor operations. `buffer` [d] is undefined without momentum; `first` says that
// there was no step before.
void sgd_direction(const SgdOptions& options, bool first, const torch::Tensor& gradient,
                   const torch::Tensor& parameters, torch::Tensor& buffer, torch::Tensor& direction);
// The same as one pass over dense CPU vectors of one floating type, cut into pieces (optimizer.h).
PieceWork sgd_pieces(const SgdOptions& options, bool first, const torch::Tensor& gradient,
                     const torch::Tensor& parameters, torch::Tensor& buffer, torch::Tensor& direction);

Result<std::unique_ptr<Optimizer>> make_sgd(const SgdOptions& options);

}  // namespace hyfreedp::optimizers
