#include "harness/training/evaluation.h"

#include <algorithm>

#include "harness/training/private_loss.h"

namespace hyfreedp::training {
std::vector<std::pair<std::string, double>> Evaluated::metrics() const {
  std::vector<std::pair<std::string, double>> all{{"loss", mean_loss}};
  if (labels.in_sequence) all.emplace_back("perplexity", perplexity());
  if (labels.is_class) all.emplace_back("accuracy", accuracy());
  if (by_class) {
    for (const auto& [name, value] :
         {std::pair{"macro-accuracy", by_class->macro_accuracy()}, std::pair{"auc", by_class->auc()},
          std::pair{"mcc", by_class->matthews()}, std::pair{"f1", by_class->f1()}}) {
      if (std::isfinite(value)) all.emplace_back(name, value);
    }
  }
  return all;
}

Evaluated evaluate(const models::Network& network, const LabelRule& labels, BatchReader& reader,
                   AlsoEvaluated also) {
  Evaluated total{.labels = labels};
  if (also.by_class && labels.is_class && !labels.in_sequence) total.by_class.emplace();
  double loss_sum = 0;
  reader.for_all([&](const Microbatch& batch) {
    const auto logits = network.forward(batch.features);
    const auto losses = models::sample_losses(labels.test_loss, logits, batch.labels, false).losses;
    loss_sum += losses.to(torch::kFloat64).sum().item<double>();
    if (labels.is_class) total.correct += (logits.argmax(-1) == batch.labels).sum().item<std::int64_t>();
    total.count += scored(labels, batch.labels);
    total.records += batch.labels.size(0);
    if (also.loss_bound > 0) {
      const auto of_records = models::sample_losses(labels.loss, logits, batch.labels, false).losses;
      total.score_sum += bounded_score_sum(of_records, also.loss_bound);
    }
    if (total.by_class) total.by_class->add(logits, batch.labels);
  });
  total.mean_loss = loss_sum / static_cast<double>(std::max<std::int64_t>(total.count, 1));
  return total;
}

}  // namespace hyfreedp::training
