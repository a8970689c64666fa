// An observer is shown what a run releases and the inputs of each release. The audit uses it
// (harness/training/audit), and so do tests; in other runs there is none.
//
// It sees values without noise, which are confidential, so an audit runs on generated data. The
// mechanism calls it after a release is final and before anything uses it. It must change nothing:
// a run is the same to the last bit with and without an observer. A step that is repeated by a
// replay is shown again.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <torch/types.h>

#include "harness/mechanism/batches.h"

namespace hyfreedp::mechanism {

// The inputs of the sum that was released. A member that the purpose does not use is null or empty.
struct Origin {
  const Rows* rows = nullptr;              // the batch
  const torch::Tensor* weights = nullptr;  // [d], before the step
  // For a probe, value k is at the weights - abscissas[k] * direction. For a change of losses, the
  // value is how much the losses at the first abscissa exceed those at the last.
  const torch::Tensor* direction = nullptr;  // [d]
  std::span<const double> abscissas = {};
};

struct VectorSeen {
  const std::string& purpose;
  std::int64_t step = 0;
  const Origin& origin;
  const torch::Tensor& released;  // [d]: after the division
};

struct ValuesSeen {
  const std::string& purpose;
  std::int64_t step = 0;
  const Origin& origin;
  double sensitivity = 0;  // of the first value
  std::span<const double> released;
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void vector_released(const VectorSeen& seen) = 0;
  virtual void values_released(const ValuesSeen& seen) = 0;
  // Called by the trainer after the last step.
  virtual void run_ended(const torch::Tensor& weights) = 0;
};

}  // namespace hyfreedp::mechanism
