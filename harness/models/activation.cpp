#include "harness/models/activation.h"

namespace hyfreedp::models {

using torch::Tensor;

Tensor Tanh::forward(const Tensor& input) const { return at::tanh(input); }

Tensor Tanh::input_gradient(const Use& use) const {
  // One tensor, not one for each operation.
  return (use.output * use.output).neg_().add_(1).mul_(use.output_gradient);
}

Tensor Relu::forward(const Tensor& input) const { return at::relu(input); }

Tensor Relu::input_gradient(const Use& use) const {
  return at::threshold_backward(use.output_gradient, use.output, 0);
}

Tensor Gelu::forward(const Tensor& input) const { return at::gelu(input, approximate_); }

Tensor Gelu::input_gradient(const Use& use) const {
  return at::gelu_backward(use.output_gradient, use.input(), approximate_);
}

Tensor GatedSilu::forward_recorded(const Tensors& inputs, Tensors* saved) const {
  auto gate = at::silu(inputs.at(0));
  auto output = gate * inputs.at(1);
  if (saved != nullptr) *saved = {std::move(gate)};
  return output;
}

Tensors GatedSilu::input_gradients(const Use& use, const std::vector<bool>& needed) const {
  Tensors gradients(2);
  if (needed[0]) gradients[0] = at::silu_backward(use.output_gradient * use.inputs[1], use.inputs[0]);
  if (needed[1]) gradients[1] = use.output_gradient * use.saved[0];
  return gradients;
}

}  // namespace hyfreedp::models
