// Measures a run beside its training: the test splits on the way and at its end, and the validation
// or training accuracy that its method is told. It measures at the weights, or at an average of
// them if the optimizer or the spec has one.
#pragma once

#include <cstdint>
#include <string>
#include <torch/types.h>

#include "harness/mechanism/release/mechanism.h"
#include "harness/training/averaging.h"
#include "harness/training/evaluation.h"
#include "harness/training/setup.h"
#include "harness/training/trainer.h"

namespace hyfreedp::training {

class RunEvaluation {
 public:
  // `scratch` [d] keeps the weights while an average is in their place. All must outlive it.
  RunEvaluation(const TrainingJob& job, Setup& setup, const WeightAverage& average, torch::Tensor& scratch)
      : job_(job), setup_(setup), average_(average), scratch_(scratch) {}

  // The average that is evaluated; undefined: the weights themselves are.
  torch::Tensor average() const;
  // Measures after `done` steps. Ends early if was_stopped() becomes true.
  Result<void> record_test(std::int64_t done);
  // Measures after the last step: the test splits, and scores, noised by `mechanism` or not. Ends
  // early in the same way.
  Result<void> conclude(mechanism::Mechanism& mechanism);
  // True if the last evaluation was stopped.
  bool was_stopped() const { return stopped_; }
  // True if the losses of the evaluation at the end were finite.
  bool is_last_finite() const { return is_last_finite_; }

 private:
  Evaluated evaluate_on(BatchReader& reader, AlsoEvaluated also = {});
  Evaluated evaluate_on_training(bool by_class);
  Result<void> record(std::int64_t done, const std::string& split, const Evaluated& result);
  Result<void> record_written();
  Result<void> record_scores(mechanism::Mechanism& mechanism);

  const TrainingJob& job_;
  Setup& setup_;
  const WeightAverage& average_;
  torch::Tensor& scratch_;
  bool stopped_ = false;
  bool is_last_finite_ = true;
};

}  // namespace hyfreedp::training
