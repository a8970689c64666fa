// Sees what a run releases and what it is made of, for the audit (harness/training/audit).
//
// Null in every run but an audit's. What it sees is raw, hence confidential: an audit runs on generated data. It is told
// after a release is final and before anything uses it, changes nothing, and the run is the same to the last bit with
// and without one. A step that a replay repeats is seen again.
#pragma once

#include <cstdint>
#include <span>
#include <torch/types.h>

#include "harness/training/sampler.h"

namespace hyfreedp::training {

struct GradientSeen {
  std::int64_t step = 0;
  const Rows& rows;               // the batch
  const torch::Tensor& weights;   // [d], before the step
  const torch::Tensor& released;  // [d]: the very vector that the optimizer is handed, divided and all
};

struct ProbeSeen {
  std::int64_t step = 0;
  const Rows& rows;
  bool separate_batch = false;
  const torch::Tensor& weights;       // [d]
  const torch::Tensor& direction;     // [d]: losses are at weights - x direction
  std::span<const double> abscissas;  // x
  double loss_bound = 0;
  std::span<const double> released;  // the very losses that the controller is handed
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void gradient_released(const GradientSeen& seen) = 0;
  virtual void probe_released(const ProbeSeen& seen) = 0;
  // All steps are done.
  virtual void run_ended(const torch::Tensor& weights) = 0;
};

}  // namespace hyfreedp::training
