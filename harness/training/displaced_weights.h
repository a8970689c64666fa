// A guard that moves the weights for a while: to w - x u for a probe, to an optimizer's average for
// evaluation. The weights are changed in place, so that the views of all layers see them, and are
// restored bit for bit when the guard is destroyed.
#pragma once

#include <torch/types.h>

#include "harness/training/weight_step.h"

namespace hyfreedp::training {

class DisplacedWeights {
 public:
  // `scratch` [d] stores the original weights meanwhile.
  DisplacedWeights(torch::Tensor& weights, torch::Tensor& scratch) : weights_(weights), original_(scratch) {
    original_.copy_(weights_);
  }
  DisplacedWeights(const DisplacedWeights&) = delete;
  DisplacedWeights& operator=(const DisplacedWeights&) = delete;
  ~DisplacedWeights() { weights_.copy_(original_); }

  // w := original - x u
  void step_along(const torch::Tensor& direction, double x) {
    subtract_scaled(original_, direction, x, weights_);
  }
  void assign(const torch::Tensor& values) { weights_.copy_(values); }

 private:
  torch::Tensor& weights_;
  torch::Tensor& original_;
};

}  // namespace hyfreedp::training
