#include "harness/training/evaluation.h"

namespace hyfreedp::training {

Evaluated evaluate(const models::Network& network, models::Loss loss, BatchReader& reader) {
  Evaluated total;
  double loss_sum = 0;
  reader.for_all([&](const Microbatch& batch) {
    const auto logits = network.forward(batch.features);
    const auto losses = models::sample_losses(loss, logits, batch.labels, false).losses;
    loss_sum += losses.to(torch::kFloat64).sum().item<double>();
    total.correct += (logits.argmax(1) == batch.labels).sum().item<std::int64_t>();
    total.count += batch.labels.size(0);
  });
  total.mean_loss = loss_sum / static_cast<double>(total.count);
  return total;
}

}  // namespace hyfreedp::training
