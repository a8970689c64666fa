#include "harness/models/layers/loss.h"

namespace hyfreedp::models {
namespace {

using torch::Tensor;

// values[..., column] -= 1, one column of each row. On a GPU by comparison: there LibTorch's
// deterministic scatter waits for the device.
void subtract_one(Tensor& values, const Tensor& column) {
  if (values.is_cuda()) {
    values.add_(at::arange(values.size(-1), column.options()) == column, -1);
  } else {
    values.scatter_add_(-1, column, torch::full_like(column, -1, values.options()));
  }
}

SampleLosses cross_entropy(const Tensor& logits, const Tensor& labels, bool with_gradient) {
  const auto ignored = labels == kNotScored;                        // [B]
  const auto column = labels.masked_fill(ignored, 0).unsqueeze(1);  // [B, 1]
  auto log_probabilities = at::log_softmax(logits, 1);              // [B, C]
  SampleLosses result;
  result.losses = log_probabilities.gather(1, column).squeeze(1).neg_().masked_fill_(ignored, 0);
  if (!with_gradient) return result;
  result.logit_gradient = log_probabilities.exp_();
  subtract_one(result.logit_gradient, column);
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

SampleLosses squared(const Tensor& outputs, const Tensor& labels, bool with_gradient) {
  const auto error = outputs - labels.to(outputs.scalar_type()).unsqueeze(1);  // [B, 1]
  SampleLosses result;
  result.losses = error.square().squeeze(1);
  if (with_gradient) result.logit_gradient = 2 * error;
  return result;
}

SampleLosses token_losses(const Tensor& logits, const Tensor& labels, bool mean, bool with_gradient) {
  const auto scored = (labels != kNotScored).to(logits.scalar_type());             // [B, T]
  const auto column = labels.masked_fill(labels == kNotScored, 0).unsqueeze(2);    // [B, T, 1]
  const auto weight = mean ? scored / scored.sum(1, true).clamp_min_(1) : scored;  // [B, T]
  auto log_probabilities = at::log_softmax(logits, 2);                             // [B, T, C]
  SampleLosses result;
  result.losses = (log_probabilities.gather(2, column).squeeze(2) * weight).sum(1).neg_();
  if (!with_gradient) return result;
  result.logit_gradient = log_probabilities.exp_();
  subtract_one(result.logit_gradient, column);
  result.logit_gradient.mul_(weight.unsqueeze(2));
  return result;
}

}  // namespace

SampleLosses sample_losses(Loss loss, const Tensor& logits, const Tensor& labels, bool with_gradient) {
  switch (loss) {
    case Loss::cross_entropy:
      return cross_entropy(logits, labels, with_gradient);
    case Loss::binary_cross_entropy:
      return binary_cross_entropy(logits, labels, with_gradient);
    case Loss::squared:
      return squared(logits, labels, with_gradient);
    case Loss::token_mean:
    case Loss::token_sum:
      break;
  }
  return token_losses(logits, labels, loss == Loss::token_mean, with_gradient);
}

Tensor next_tokens(const Tensor& labels) {
  auto next = torch::full_like(labels, kNotScored);
  const auto count = labels.size(1) - 1;
  if (count > 0) next.narrow(1, 0, count).copy_(labels.narrow(1, 1, count));
  return next;
}

}  // namespace hyfreedp::models
