// The clipped sum of a batch's per-sample gradients, and the per-sample losses that come with it.
//
// Microbatches keep memory small; factors depend on single samples, so the sum does not depend on
// how the batch was cut up beyond rounding (1e-6 of the largest entry in float32; microbatches are
// added up in double). Where samples come in random copies (augmentation.h), loss and gradient of a
// sample are the means over them, taken before clipping. A sample whose gradient holds NaN or an
// infinity counts as 0 where samples are clipped. Raw sums and losses never leave this room
// unnoised in a private run.
#pragma once

#include "harness/models/loss.h"
#include "harness/models/network.h"
#include "harness/training/batch_reader.h"
#include "harness/training/clipping.h"

namespace hyfreedp::training {

// What clipping did to each sample, for those who ask; raw, like the losses.
struct SampleClipping {
  // [count] float64: of the whole gradient before clipping; not finite where the gradient is not.
  torch::Tensor norms;
  // [count] bool: some part of the gradient has a factor below 1; all false without clipping.
  torch::Tensor clipped;
};

// sum [d] := clipped sum over `rows`, in the parameters' type or in float64, in which the layers
// then add up, too. Returns the per-sample losses at the current weights [count], float64. `seen`:
// filled where it is not null; without clipping, this costs the norms.
torch::Tensor clipped_gradient_sum(models::Network& network, models::Loss loss, const ClippingRule& rule,
                                   BatchReader& reader, const Rows& rows, torch::Tensor& sum,
                                   SampleClipping* seen = nullptr);

// Per-sample losses only [count], float64.
torch::Tensor losses_at_weights(const models::Network& network, models::Loss loss, BatchReader& reader,
                                const Rows& rows);

}  // namespace hyfreedp::training
