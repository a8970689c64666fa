#include "harness/models/layers/attention.h"

#include <ATen/core/grad_mode.h>
#include <limits>
#include <torch/csrc/autograd/autograd.h>

#include "harness/base/result.h"

namespace hyfreedp::models {

using torch::Tensor;

// heads [B, H, T, head_width].
Tensor Attention::rotated(const Tensor& heads) const {
  // Positions beyond 256 are no bfloat16 numbers, so angles are taken in float32 at least.
  const auto options =
      heads.options().dtype(heads.scalar_type() == torch::kFloat64 ? torch::kFloat64 : torch::kFloat32);
  if (!frequencies_.defined() || frequencies_.device() != options.device() ||
      frequencies_.scalar_type() != options.dtype()) {
    frequencies_ = torch::tensor(shape_.rotary->frequencies, options);
  }
  const auto angles = at::outer(at::arange(heads.size(2), options), frequencies_);
  const auto both = at::cat({angles, angles}, 1);  // [T, head_width]
  const auto half = shape_.head_width / 2;
  const auto turned = at::cat({-heads.narrow(3, half, half), heads.narrow(3, 0, half)}, 3);
  const auto narrowed = [&](const Tensor& factor) { return factor.to(heads.scalar_type()); };
  return (heads * narrowed(both.cos()) + turned * narrowed(both.sin())) * shape_.rotary->scale;
}

Tensor Attention::attend(const Tensors& inputs) const {
  const auto batch = inputs[0].size(0);
  const auto length = inputs[0].size(1);
  const auto width = shape_.heads * shape_.head_width;
  Tensors parts = shape_.packed ? inputs[0].split(width, 2) : Tensors(inputs.begin(), inputs.begin() + 3);
  const auto split = [&](const Tensor& part, std::int64_t heads) {
    return part.view({batch, length, heads, shape_.head_width}).transpose(1, 2);
  };
  auto q = split(parts[0], shape_.heads);
  auto k = split(parts[1], shape_.kv_heads);
  auto v = split(parts[2], shape_.kv_heads);
  if (shape_.rotary) {
    q = rotated(q);
    k = rotated(k);
  }
  std::optional<Tensor> mask;
  if (shape_.masked) {
    const auto options = inputs.back().options().dtype(torch::kBool);
    mask = (inputs.back() != 0).view({batch, 1, 1, length});
    if (shape_.causal) mask = *mask & torch::ones({length, length}, options).tril();
  }
  const bool shared = shape_.kv_heads != shape_.heads;
  const auto output =
      at::scaled_dot_product_attention(q, k, v, mask, 0.0, shape_.causal && !mask, std::nullopt, shared);
  return output.transpose(1, 2).reshape({batch, length, width});
}

// saved: the inputs as leaves of a small graph, then its output.
Tensor Attention::forward_recorded(const Tensors& inputs, Tensors* saved) const {
  const std::size_t projections = shape_.packed ? 1 : 3;
  HYFREEDP_CHECK(inputs.size() == projections + (shape_.masked ? 1 : 0), "attention has other inputs");
  if (saved == nullptr) return attend(inputs);
  const at::AutoGradMode enabled(true);
  Tensors leaves;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto leaf = inputs[i].detach();
    if (i < projections) leaf.requires_grad_();
    leaves.push_back(std::move(leaf));
  }
  auto output = attend(leaves);
  const auto value = output.detach();
  leaves.push_back(std::move(output));
  *saved = std::move(leaves);
  return value;
}

Tensors Attention::input_gradients(const ActivationRecord& record, const std::vector<bool>& needed) const {
  Tensors wanted;
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (needed[i] && record.saved[i].requires_grad()) wanted.push_back(record.saved[i]);
  }
  Tensors gradients(needed.size());
  if (wanted.empty()) return gradients;
  auto found = torch::autograd::grad({record.saved.back()}, wanted, {record.output_gradient});
  for (std::size_t i = 0, next = 0; i < needed.size(); ++i) {
    if (needed[i] && record.saved[i].requires_grad()) gradients[i] = found[next++];
  }
  return gradients;
}

}  // namespace hyfreedp::models
