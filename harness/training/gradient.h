// Computes the clipped sum of a batch's per-sample gradients, and the per-sample losses.
//
// A batch is processed in microbatches to limit memory. Each clipping factor depends on one sample,
// so the sum does not depend on how the batch was divided, except for rounding (1e-6 of the largest
// entry in float32; microbatches are added in float64). Where a sample has several augmented copies
// (augmentation.h), its loss and gradient are the means over them, taken before clipping. A sample
// whose gradient contains NaN or infinity counts as 0 if samples are clipped.
//
// Sums, losses and norms that these functions return carry no noise: in a private run they are
// confidential, and the caller adds noise before anything else uses them.
#pragma once

#include "harness/models/layers/loss.h"
#include "harness/models/layers/network.h"
#include "harness/training/batch_reader.h"
#include "harness/training/clipping.h"

namespace hyfreedp::training {

// The effect of clipping on each of `count` samples. It carries no noise.
struct SampleClipping {
  // [count] float64: norm of the whole gradient before clipping; not finite where the gradient is
  // not.
  torch::Tensor norms;
  // [count] bool: whether the factor of the gradient, or of any layer's part, is below 1. All false
  // without clipping.
  torch::Tensor clipped;
};

// Sets `sum` to the clipped sum over the samples `rows` and returns the per-sample losses at the
// current weights, [rows.count] float64 on the CPU.
//   sum    [d], in the parameters' type or in float64; the layers' sums are computed in its type
//   seen   filled if it is not null. Without clipping, the norms are computed for it alone
torch::Tensor clipped_gradient_sum(models::Network& network, models::Loss loss, const RoundedClipping& rule,
                                   BatchReader& reader, const mechanism::Rows& rows, torch::Tensor& sum,
                                   SampleClipping* seen = nullptr);

// The per-sample losses only, [rows.count] float64 on the CPU.
torch::Tensor losses_at_weights(const models::Network& network, models::Loss loss, BatchReader& reader,
                                const mechanism::Rows& rows);

}  // namespace hyfreedp::training
