#include "harness/models/activation.h"

namespace hyfreedp::models {

using torch::Tensor;

Tensor Tanh::forward(const Tensor& input) const { return at::tanh(input); }

Tensor Tanh::input_gradient(const Use& use) const {
  return use.output_gradient * (1 - use.output * use.output);
}

Tensor Relu::forward(const Tensor& input) const { return at::relu(input); }

Tensor Relu::input_gradient(const Use& use) const { return use.output_gradient * (use.output > 0); }

}  // namespace hyfreedp::models
