// Element-wise activations without parameters. x, y and their gradients dx, dy have one shape,
// [B, ...].
//   tanh         y = tanh(x), dx = dy (1 - y^2)
//   relu         y = max(x, 0), dx = dy where y > 0 and 0 elsewhere
//                (the derivative at 0 is 0, as in LibTorch)
//   relu6        y = min(max(x, 0), 6), dx = dy where 0 < y < 6 and 0 elsewhere, as in LibTorch
//   gelu         y = x Phi(x), exact (ViT) or by tanh (GPT-2's gelu_new), as in LibTorch; quick:
//                y = x sigmoid(1.702 x) (Hendrycks & Gimpel, arXiv:1606.08415; OpenAI's CLIP)
//   gated silu   y = silu(a) b for two inputs a and b (the SwiGLU of Llama, Shazeer,
//                arXiv:2002.05202)
#pragma once

#include "harness/models/layers/layer.h"

namespace hyfreedp::models {

class Tanh : public Layer {
 public:
  Reads gradient_reads() const override { return {.inputs = false, .output = true}; }
  torch::Tensor forward(const torch::Tensor& input) const override;
  torch::Tensor input_gradient(const ActivationRecord& record) const override;
};

class Relu : public Layer {
 public:
  Reads gradient_reads() const override { return {.inputs = false, .output = true}; }
  torch::Tensor forward(const torch::Tensor& input) const override;
  torch::Tensor input_gradient(const ActivationRecord& record) const override;
};

class Relu6 : public Layer {
 public:
  Reads gradient_reads() const override { return {.inputs = false, .output = true}; }
  torch::Tensor forward(const torch::Tensor& input) const override;
  torch::Tensor input_gradient(const ActivationRecord& record) const override;
};

class Gelu : public Layer {
 public:
  enum class Form { exact, tanh, quick };
  explicit Gelu(Form form) : form_(form) {}
  Reads gradient_reads() const override { return {.inputs = true, .output = false}; }
  torch::Tensor forward(const torch::Tensor& input) const override;
  torch::Tensor input_gradient(const ActivationRecord& record) const override;

 private:
  // LibTorch's name of the form; not used for `quick`.
  const char* approximation() const { return form_ == Form::tanh ? "tanh" : "none"; }

  Form form_;
};

class GatedSilu : public Layer {
 public:
  Reads gradient_reads() const override { return {.inputs = true, .output = false}; }
  torch::Tensor forward_recorded(const Tensors& inputs, Tensors* saved) const override;
  Tensors input_gradients(const ActivationRecord& record, const std::vector<bool>& needed) const override;
};

}  // namespace hyfreedp::models
