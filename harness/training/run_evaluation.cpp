#include "harness/training/run_evaluation.h"

#include <cmath>
#include <optional>

#include "harness/training/displaced_weights.h"

namespace hyfreedp::training {

torch::Tensor RunEvaluation::average() const {
  const auto own = setup_.optimizer->evaluation_parameters();
  return own.defined() ? own : average_.parameters();
}

Evaluated RunEvaluation::evaluate_on(BatchReader& reader, AlsoEvaluated also) {
  auto& weights = setup_.network.parameters();
  const auto averaged = average();
  std::optional<DisplacedWeights> displaced;
  if (averaged.defined()) displaced.emplace(weights, scratch_).assign(averaged);
  auto result = evaluate(setup_.network, setup_.labels, reader, also);
  stopped_ = reader.was_stopped();
  return result;
}

// Each sample as it is.
Evaluated RunEvaluation::evaluate_on_training(bool by_class) {
  setup_.train.augment(nullptr);
  setup_.train.stop_when(job_.stop_requested);
  auto result = evaluate_on(setup_.train, {.by_class = by_class});
  if (setup_.augmentation) setup_.train.augment(&*setup_.augmentation);
  return result;
}

Result<void> RunEvaluation::record(std::int64_t done, const std::string& split, const Evaluated& result) {
  if (stopped_) return {};
  is_last_finite_ = is_last_finite_ && std::isfinite(result.mean_loss);
  for (const auto& [name, value] : result.metrics()) {
    auto written = job_.journal.metric({done, split, name, value, trial::Visibility::test});
    if (!written) return written.error();
  }
  return {};
}

Result<void> RunEvaluation::record_test(std::int64_t done) {
  const auto& recorded = job_.config.evaluation.recorded;
  is_last_finite_ = true;
  if (auto tested = record(done, "test", evaluate_on(setup_.test, {.by_class = recorded.by_class}));
      !tested || stopped_)
    return tested;
  if (!recorded.training_split) return {};
  return record(done, trial::kTrainSplit, evaluate_on_training(recorded.by_class));
}

Result<void> RunEvaluation::conclude(mechanism::Mechanism& mechanism) {
  const auto steps = job_.config.steps;
  if (auto tested = record_test(steps); !tested || stopped_) return tested;
  // These sets are evaluated at the end alone: they may be larger than all training data, and a
  // table needs no more.
  for (std::size_t i = 0; i < setup_.ood_test.size(); ++i) {
    const auto result =
        evaluate_on(setup_.ood_test[i], {.by_class = job_.config.evaluation.recorded.by_class});
    if (auto tested = record(steps, job_.config.ood_test[i].split(), result); !tested || stopped_)
      return tested;
  }
  if (auto tested = record_written(); !tested || stopped_) return tested;
  return record_scores(mechanism);
}

Result<void> RunEvaluation::record_written() {
  if (!setup_.written) return {};
  const auto averaged = average();
  std::optional<DisplacedWeights> displaced;
  if (averaged.defined()) displaced.emplace(setup_.network.parameters(), scratch_).assign(averaged);
  const auto found = write_and_score(setup_.network, *setup_.written,
                                     *job_.config.evaluation.recorded.written, job_.stop_requested);
  if (!found) return found.error();
  stopped_ = !found->has_value();
  if (stopped_) return {};
  for (const auto& [name, value] : **found) {
    auto written = job_.journal.metric({job_.config.steps, "test", name, value, trial::Visibility::test});
    if (!written) return written.error();
  }
  return {};
}

Result<void> RunEvaluation::record_scores(mechanism::Mechanism& mechanism) {
  const auto steps = job_.config.steps;
  const auto& evaluation = job_.config.evaluation;
  const auto confidential = [&](const char* split, double accuracy) {
    return job_.journal.metric({steps, split, "accuracy", accuracy, trial::Visibility::confidential});
  };
  if (evaluation.oracle_train) {
    const double accuracy = evaluate_on_training(false).accuracy();
    if (stopped_) return {};
    if (auto written = confidential(trial::kTrainSplit, accuracy); !written) return written;
  }
  if (!evaluation.oracle_validation && !evaluation.score) return {};
  const double loss_bound = evaluation.score ? evaluation.score->loss_bound : 0;
  const auto validated = evaluate_on(setup_.validation, {.loss_bound = loss_bound});
  if (stopped_) return {};
  if (evaluation.oracle_validation) {
    if (auto written = confidential(trial::kValidationSplit, validated.accuracy()); !written) return written;
  }
  if (!evaluation.score) return {};
  const double sum = loss_bound > 0 ? validated.score_sum : static_cast<double>(validated.correct);
  const mechanism::BoundedSum scores{sum, 1};
  const auto noised = mechanism.release(mechanism::kScore, steps, {&scores, 1});
  if (!noised) return noised.error();
  const double score = noised->front() / static_cast<double>(validated.records);
  return job_.journal.metric({steps, trial::kValidationSplit, "score", score, trial::Visibility::released});
}

}  // namespace hyfreedp::training
