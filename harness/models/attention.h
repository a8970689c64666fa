// Scaled dot-product attention between projections; no parameters. Each sample attends to itself only.
//
//   inputs   {qkv} [B, T, 3 D], rows q, k, v in that order (ViT, GPT-2), or {q, k, v} with fewer key and value heads than
//            query heads where they are shared (Ainslie et al., arXiv:2305.13245): query head h uses head h / (heads / kv_heads);
//            then, where the network has one, the mask [B, T] int64, 0: no position attends to this one
//   causal   position t attends to 0 .. t
//   rotary   q and k rotated by position before the products, half-rotated form (Su et al., arXiv:2104.09864)
// The gradient is LibTorch's own, over this operation alone.
#pragma once

#include <optional>

#include "harness/models/layer.h"

namespace hyfreedp::models {

// Rotation frequencies [head_dim / 2]; see llama.h for their scaling.
struct Rotary {
  std::vector<double> frequencies;
  double scale = 1;  // of the rotated vectors
};

struct AttentionShape {
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t head_width = 1;
  bool packed = true;  // one input qkv
  bool causal = false;
  bool masked = false;  // the last input is a mask
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
  mutable torch::Tensor
      frequencies_;  // of the rotation, where the heads are: a copy to a GPU would wait for it each time
};

}  // namespace hyfreedp::models
