// The clipped sum of a batch's per-sample gradients, and the per-sample losses that come with it.
//
// Microbatches keep memory small; factors depend on single samples, so the sum does not depend on how the batch was
// cut up beyond rounding (1e-6 of the largest entry in float32). A sample whose gradient holds NaN or an infinity counts
// as 0 where samples are clipped. Raw sums and losses never leave this room unnoised in a private run.
#pragma once

#include "harness/models/loss.h"
#include "harness/models/network.h"
#include "harness/training/batch_reader.h"
#include "harness/trial/privacy_plan.h"

namespace hyfreedp::training {

struct ClippingRule {
  trial::Clipping clipping = trial::Clipping::auto_s;
  double constant = 0.01;
};

// sum [d] := clipped sum over `rows`. Returns the per-sample losses at the current weights [count], float64.
torch::Tensor clipped_gradient_sum(models::Network& network, models::Loss loss, const ClippingRule& rule,
                                   BatchReader& reader, const Rows& rows, torch::Tensor& sum);

// Per-sample losses only [count], float64.
torch::Tensor losses_at_weights(const models::Network& network, models::Loss loss, BatchReader& reader,
                                const Rows& rows);

}  // namespace hyfreedp::training
