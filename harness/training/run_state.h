// The parts of a run whose values its later steps depend on, as a State that a checkpoint holds
// (checkpoint.h).
//
//   weights                [d]
//   optimizer/NAME         its state tensors [d] and scalars
//   controller/NAME        its scalars
//   average                [d], where one was begun
//   norms/NAME             of StepNorms
//   feature_mean           [p], where one was released
//   step/NAME              the last step's scalars, which the free step and later lines need
//   clipping               the present threshold
//   direction              [d], the last step's, where the controller follows slopes
#pragma once

#include <map>
#include <string>
#include <torch/types.h>

#include "harness/training/averaging.h"
#include "harness/training/checkpoint.h"
#include "harness/training/step_norms.h"
#include "optimizers/learning_rate.h"
#include "optimizers/optimizer.h"

namespace hyfreedp::training {

struct RunState {
  torch::Tensor& weights;
  optimizers::Optimizer& optimizer;
  optimizers::LearningRateController& controller;
  WeightAverage& average;
  StepNorms& norms;
  double& clipping_constant;
  torch::Tensor& feature_mean;  // undefined: none
  torch::Tensor* direction;     // null: the next step does not need it
  std::map<std::string, double>& scalars;
};

// The tensors are the run's own.
State saved(const RunState& run);
// Sets everything from what saved() gave. The run must have begun (begin_run). An error, and
// nothing set, where the state is of another kind of run, or of a version whose rules keep other
// values.
Result<void> restore(const State& state, const RunState& run);

}  // namespace hyfreedp::training
