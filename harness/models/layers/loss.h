// Losses of single samples and their gradients with respect to the logits z, in closed form.
//
//   cross entropy          L_i = log sum_c exp(z_ic) - z_iy; dL_i/dz_i = softmax(z_i) - onehot(y),
//                          z [B, C]
//   binary cross entropy   L_i = log(1 + exp(z_i)) - y z_i; dL_i/dz_i = sigmoid(z_i) - y, y in
//                          {0, 1}, z [B, 1]
//   squared                L_i = (z_i - y_i)^2; dL_i/dz_i = 2 (z_i - y_i), real y [B], z [B, 1]
//   token mean, token sum  mean or sum of the cross entropies of a sample's scored positions, z
//                          [B, T, C], labels [B, T]
// Label kNotScored means that the sample or position is not scored; a sample without a scored
// position has loss 0 and gradient exactly 0. Losses are in nats, the squared one in the label's
// unit squared.
#pragma once

#include <torch/types.h>

#include "harness/models/graph/model_input.h"

namespace hyfreedp::models {

enum class Loss { cross_entropy, binary_cross_entropy, squared, token_mean, token_sum };

struct SampleLosses {
  torch::Tensor losses;          // [B]
  torch::Tensor logit_gradient;  // same shape as the logits; undefined if not asked for
};

SampleLosses sample_losses(Loss loss, const torch::Tensor& logits, const torch::Tensor& labels,
                           bool with_gradient);

// Labels that score logits[t] against the token after it, as causal language models do: `labels`
// [B, T] moved one place to the left, with the last position not scored.
torch::Tensor next_tokens(const torch::Tensor& labels);

}  // namespace hyfreedp::models
