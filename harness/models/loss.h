// Per-sample losses and their gradients with respect to the logits, in closed form.
//   cross entropy          L_i = log sum_c exp(z_ic) - z_iy      dL_i/dz_i = softmax(z_i) - onehot(y)
//   binary cross entropy   L_i = log(1 + exp(z_i)) - y z_i       dL_i/dz_i = sigmoid(z_i) - y
//                          for y in {0, 1}, z [B, 1]
// Label -100 (cross entropy): the sample is ignored, loss 0 and gradient exactly 0. Losses are in nats.
#pragma once

#include <torch/types.h>

namespace hyfreedp::models {

inline constexpr std::int64_t kIgnoredLabel = -100;

enum class Loss { cross_entropy, binary_cross_entropy };

struct SampleLosses {
  torch::Tensor losses;          // [B]
  torch::Tensor logit_gradient;  // [B, C]; undefined where it was not asked for
};

SampleLosses sample_losses(Loss loss, const torch::Tensor& logits, const torch::Tensor& labels,
                           bool with_gradient);

}  // namespace hyfreedp::models
