// Scaled dot-product attention between projections, without parameters. Each sample attends to
// itself only.
//
//   inputs   either {qkv} [B, T, 3 D] with rows q, k, v in that order (ViT, GPT-2), or {q, k, v},
//            where keys and values may have fewer heads than queries (Ainslie et al.,
//            arXiv:2305.13245): query head h then reads head h / (heads / kv_heads). Where the
//            network has a mask, it is the last input, [B, T] int64; no position attends to one
//            whose mask is 0
//   output   [B, T, D]
//   causal   position t attends to the positions 0 .. t
//   rotary   q and k are rotated by position before the products, in the half-rotated form
//            (Su et al., arXiv:2104.09864)
// The gradient is LibTorch's own, of this operation alone.
#pragma once

#include <optional>

#include "harness/models/layers/layer.h"

namespace hyfreedp::models {

// Rotation frequencies [head_dim / 2]; see llama.h for their scaling.
struct Rotary {
  std::vector<double> frequencies;
  double scale = 1;  // factor of the rotated vectors
};

struct AttentionShape {
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t head_width = 1;
  bool packed = true;  // true: one input qkv
  bool causal = false;
  bool masked = false;  // true: the last input is a mask
  std::optional<Rotary> rotary = {};
};

class Attention : public Layer {
 public:
  explicit Attention(AttentionShape shape) : shape_(std::move(shape)) {}
  Reads gradient_reads() const override { return {.inputs = false, .output = false}; }
  torch::Tensor forward_recorded(const Tensors& inputs, Tensors* saved) const override;
  Tensors input_gradients(const ActivationRecord& record, const std::vector<bool>& needed) const override;

 private:
  torch::Tensor attend(const Tensors& inputs) const;
  torch::Tensor rotated(const torch::Tensor& heads) const;

  AttentionShape shape_;
  // Of the rotation, kept on the device of the heads: copying them to a GPU at each call would wait
  // for it.
  mutable torch::Tensor frequencies_;
};

}  // namespace hyfreedp::models
