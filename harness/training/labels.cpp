#include "harness/training/labels.h"

#include <ATen/ATen.h>

namespace hyfreedp::training {

const LabelRule& rule_of(datasets::LabelKind kind) {
  using models::Loss;
  static constexpr LabelRule kClasses{Loss::cross_entropy, Loss::cross_entropy, true, false};
  static constexpr LabelRule kTokens{Loss::token_mean, Loss::token_sum, true, true};
  static constexpr LabelRule kReal{Loss::squared, Loss::squared, false, false};
  switch (kind) {
    case datasets::LabelKind::classes:
      return kClasses;
    case datasets::LabelKind::tokens:
      return kTokens;
    case datasets::LabelKind::real:
      break;
  }
  return kReal;
}

Result<void> check_labels(const trial::TrialConfig& config, const datasets::Sizes& sizes,
                          const datasets::Dataset& dataset) {
  const auto& rule = rule_of(sizes.labels);
  const auto& evaluation = config.evaluation;
  using enum datasets::ScoreKind;
  std::vector<datasets::ScoreKind> scores;
  if (evaluation.score) scores.push_back(evaluation.score->loss_bound > 0 ? noised_loss : noised_accuracy);
  if (evaluation.oracle_validation || evaluation.oracle_train) scores.push_back(accuracy);
  for (const auto score : scores) {
    const auto lack = datasets::lacks_score(sizes.labels, score);
    if (!lack.empty()) return error("'" + config.dataset.name + "' has " + lack + ".");
  }
  if (!rule.is_class) return {};
  if (auto checked = check_labels(config.dataset.name, sizes,
                                  {&dataset.private_train, &dataset.private_validation, &dataset.test});
      !checked) {
    return checked;
  }
  return {};
}

Result<void> check_labels(const std::string& name, const datasets::Sizes& sizes,
                          const std::vector<const datasets::SplitData*>& splits) {
  const auto& rule = rule_of(sizes.labels);
  if (!rule.is_class) return {};
  for (const auto* split : splits) {
    if (split->labels.numel() == 0) continue;
    const auto least = rule.in_sequence ? datasets::kNotScored : 0;
    if (split->labels.min().item<std::int64_t>() < least ||
        split->labels.max().item<std::int64_t>() >= sizes.classes) {
      return error("'" + name + "' has labels outside 0 .. " + std::to_string(sizes.classes - 1) + ".");
    }
  }
  return {};
}

datasets::SplitData aligned(const LabelRule& rule, const datasets::SplitData& split) {
  if (!rule.in_sequence) return split;
  return {.features = split.features,
          .labels = models::next_tokens(split.labels),
          .scale = split.scale,
          .copies = split.copies};
}

std::int64_t scored(const LabelRule& rule, const torch::Tensor& labels) {
  return rule.in_sequence ? (labels != datasets::kNotScored).sum().item<std::int64_t>() : labels.size(0);
}

}  // namespace hyfreedp::training
