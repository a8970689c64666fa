#include "harness/training/evaluation.h"

#include <algorithm>

namespace hyfreedp::training {
namespace {

bool is_token_loss(models::Loss loss) {
  return loss == models::Loss::token_mean || loss == models::Loss::token_sum;
}

}  // namespace

Evaluated evaluate(const models::Network& network, models::Loss loss, BatchReader& reader) {
  Evaluated total;
  total.of_tokens = is_token_loss(loss);
  total.has_accuracy = loss != models::Loss::squared;
  if (total.of_tokens) loss = models::Loss::token_sum;
  double loss_sum = 0;
  reader.for_all([&](const Microbatch& batch) {
    const auto logits = network.forward(batch.features);
    const auto losses = models::sample_losses(loss, logits, batch.labels, false).losses;
    loss_sum += losses.to(torch::kFloat64).sum().item<double>();
    if (total.has_accuracy) total.correct += (logits.argmax(-1) == batch.labels).sum().item<std::int64_t>();
    total.count += total.of_tokens ? (batch.labels != models::kIgnoredLabel).sum().item<std::int64_t>()
                                   : batch.labels.size(0);
  });
  total.mean_loss = loss_sum / static_cast<double>(std::max<std::int64_t>(total.count, 1));
  return total;
}

}  // namespace hyfreedp::training
