#include "harness/training/evaluation.h"

#include <algorithm>

namespace hyfreedp::training {
std::vector<std::pair<std::string, double>> Evaluated::metrics() const {
  std::vector<std::pair<std::string, double>> all{{"loss", mean_loss}};
  if (labels.in_sequence) all.emplace_back("perplexity", perplexity());
  if (labels.is_class) all.emplace_back("accuracy", accuracy());
  return all;
}

Evaluated evaluate(const models::Network& network, const LabelRule& labels, BatchReader& reader) {
  Evaluated total{.labels = labels};
  double loss_sum = 0;
  reader.for_all([&](const Microbatch& batch) {
    const auto logits = network.forward(batch.features);
    const auto losses = models::sample_losses(labels.test_loss, logits, batch.labels, false).losses;
    loss_sum += losses.to(torch::kFloat64).sum().item<double>();
    if (labels.is_class) total.correct += (logits.argmax(-1) == batch.labels).sum().item<std::int64_t>();
    total.count += scored(labels, batch.labels);
  });
  total.mean_loss = loss_sum / static_cast<double>(std::max<std::int64_t>(total.count, 1));
  return total;
}

}  // namespace hyfreedp::training
