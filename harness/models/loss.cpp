#include "harness/models/loss.h"

namespace hyfreedp::models {
namespace {

using torch::Tensor;

SampleLosses cross_entropy(const Tensor& logits, const Tensor& labels, bool with_gradient) {
  const auto ignored = labels == kIgnoredLabel;                     // [B]
  const auto column = labels.masked_fill(ignored, 0).unsqueeze(1);  // [B, 1]
  auto log_probabilities = at::log_softmax(logits, 1);              // [B, C]
  SampleLosses result;
  result.losses = log_probabilities.gather(1, column).squeeze(1).neg_().masked_fill_(ignored, 0);
  if (!with_gradient) return result;
  result.logit_gradient = log_probabilities.exp_();
  result.logit_gradient.scatter_add_(1, column, torch::full_like(column, -1, logits.options()));
  result.logit_gradient.masked_fill_(ignored.unsqueeze(1), 0);
  return result;
}

SampleLosses binary_cross_entropy(const Tensor& logits, const Tensor& labels, bool with_gradient) {
  const auto target = labels.to(logits.scalar_type()).unsqueeze(1);  // [B, 1]
  SampleLosses result;
  // max(z, 0) - z y + log(1 + exp(-|z|)) never overflows.
  result.losses = (at::relu(logits) - logits * target + at::log1p(at::exp(logits.abs().neg_()))).squeeze(1);
  if (with_gradient) result.logit_gradient = at::sigmoid(logits) - target;
  return result;
}

}  // namespace

SampleLosses sample_losses(Loss loss, const Tensor& logits, const Tensor& labels, bool with_gradient) {
  return loss == Loss::cross_entropy ? cross_entropy(logits, labels, with_gradient)
                                     : binary_cross_entropy(logits, labels, with_gradient);
}

}  // namespace hyfreedp::models
