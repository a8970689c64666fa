#include "harness/models/layers/activation.h"

#include <ATen/Parallel.h>

#include "harness/base/wide.h"
#include "harness/models/layers/samples.h"

namespace hyfreedp::models {

using torch::Tensor;

namespace {

constexpr double kQuick = 1.702;

template <class T>
HYFREEDP_WIDE void tanh_gradient(const T* y, const T* gradient, std::int64_t count, T* result) {
  for (std::int64_t i = 0; i < count; ++i) result[i] = gradient[i] * (T(1) - y[i] * y[i]);
}

template <class T>
void tanh_gradient(const Tensor& output, const Tensor& gradient, const Tensor& result) {
  const T* y = output.const_data_ptr<T>();
  const T* from = gradient.const_data_ptr<T>();
  T* to = result.mutable_data_ptr<T>();
  at::parallel_for(0, result.numel(), 32768, [=](std::int64_t begin, std::int64_t end) {
    tanh_gradient(y + begin, from + begin, end - begin, to + begin);
  });
}

}  // namespace

Tensor Tanh::forward(const Tensor& input) const { return at::tanh(input); }

// g (1 - y^2), in the gradient's own memory where nobody else holds it. With LibTorch's
// tanh_backward the reference case cnn_group was 1.2e-5 off in float32, with this 1.4e-6.
Tensor Tanh::input_gradient(const ActivationRecord& record) const {
  const auto& given = record.output_gradient;
  if (!has_loops(given) || !has_loops(record.output) || given.scalar_type() != record.output.scalar_type()) {
    return (record.output * record.output).neg_().add_(1).mul_(given);
  }
  auto result = is_own(given) ? given : torch::empty_like(given);
  given.scalar_type() == torch::kFloat32 ? tanh_gradient<float>(record.output, given, result)
                                         : tanh_gradient<double>(record.output, given, result);
  return result;
}

Tensor Relu::forward(const Tensor& input) const { return at::relu(input); }

Tensor Relu::input_gradient(const ActivationRecord& record) const {
  return at::threshold_backward(record.output_gradient, record.output, 0);
}

Tensor Relu6::forward(const Tensor& input) const { return at::hardtanh(input, 0, 6); }

// The output stands in for the input: both lie between the bounds, or neither does.
Tensor Relu6::input_gradient(const ActivationRecord& record) const {
  return at::hardtanh_backward(record.output_gradient, record.output, 0, 6);
}

Tensor Gelu::forward(const Tensor& input) const {
  if (form_ == Form::quick) return (input * kQuick).sigmoid_().mul_(input);
  return at::gelu(input, approximation());
}

Tensor Gelu::input_gradient(const ActivationRecord& record) const {
  const auto& x = record.input();
  if (form_ != Form::quick) return at::gelu_backward(record.output_gradient, x, approximation());
  // s + 1.702 x s (1 - s) for s = sigmoid(1.702 x).
  const auto s = (x * kQuick).sigmoid_();
  return ((1 - s) * x * kQuick).add_(1).mul_(s).mul_(record.output_gradient);
}

Tensor GatedSilu::forward_recorded(const Tensors& inputs, Tensors* saved) const {
  auto gate = at::silu(inputs.at(0));
  auto output = gate * inputs.at(1);
  if (saved != nullptr) *saved = {std::move(gate)};
  return output;
}

Tensors GatedSilu::input_gradients(const ActivationRecord& record, const std::vector<bool>& needed) const {
  Tensors gradients(2);
  if (needed[0])
    gradients[0] = at::silu_backward(record.output_gradient * record.inputs[1], record.inputs[0]);
  if (needed[1]) gradients[1] = record.output_gradient * record.saved[0];
  return gradients;
}

}  // namespace hyfreedp::models
