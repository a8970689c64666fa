// Element-wise activations; no parameters.
//   tanh   y = tanh(x)      dx = dy (1 - y^2)
//   relu   y = max(x, 0)    dx = dy where y > 0, else 0 (the derivative at 0 is taken as 0, as in LibTorch)
#pragma once

#include "harness/models/layer.h"

namespace hyfreedp::models {

class Tanh : public Layer {
 public:
  torch::Tensor forward(const torch::Tensor& input) const override;
  torch::Tensor input_gradient(const Use& use) const override;
};

class Relu : public Layer {
 public:
  torch::Tensor forward(const torch::Tensor& input) const override;
  torch::Tensor input_gradient(const Use& use) const override;
};

}  // namespace hyfreedp::models
