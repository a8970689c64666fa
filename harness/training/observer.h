// An observer is shown what a run releases and the inputs of each release. The audit uses it
// (harness/training/audit), and so do tests; in other runs it is null.
//
// It sees values without noise, which are confidential, so an audit runs on generated data. It is
// called after a release is final and before anything uses it. It must change nothing: a run is the
// same to the last bit with and without an observer. A step that is repeated by a replay is shown
// again.
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
  const torch::Tensor& released;  // [d]: the vector that the optimizer receives, after the division
};

struct ProbeSeen {
  std::int64_t step = 0;
  const Rows& rows;
  bool separate_batch = false;
  const torch::Tensor& weights;       // [d]
  const torch::Tensor& direction;     // [d]: losses are at weights - x direction
  std::span<const double> abscissas;  // x
  double loss_bound = 0;
  std::span<const double> released;  // the losses that the controller receives
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void gradient_released(const GradientSeen& seen) = 0;
  virtual void probe_released(const ProbeSeen& seen) = 0;
  // Called after the last step.
  virtual void run_ended(const torch::Tensor& weights) = 0;
};

}  // namespace hyfreedp::training
