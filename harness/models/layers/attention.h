// Scaled dot-product attention between projections. Each sample attends to itself only.
//
//   inputs   either {qkv} [B, T, 3 D] with rows q, k, v in that order (ViT, GPT-2), or {q, k, v},
//            where keys and values may have fewer heads than queries (Ainslie et al.,
//            arXiv:2305.13245): query head h then reads head h / (heads / kv_heads). Where the
//            network has a mask, it is the last input, [B, T] int64, or the ids of the tokens: no
//            position attends to one where it is `padding`
//   output   [B, T, D]
//   causal   position t attends to the positions 0 .. t
//   rotary   q and k are rotated by position before the products, in the half-rotated form
//            (Su et al., arXiv:2104.09864)
//   grid     the positions are a class token and side x side patches; q and k of the patches are
//            rotated by row and column, in the interleaved form (EVA-02: Fang et al.,
//            arXiv:2303.11331, as timm): numbers 2 i and 2 i + 1 of a head turn together, those of
//            its first half by the row, those of its second by the column
//   side     the positions are a class token and side x side patches, and each head's scores have
//            a learned bias for how far apart two patches lie (Bao et al., arXiv:2106.08254, as
//            timm): the parameter relative_position_bias_table [distances, heads], whose last three
//            rows are of token to patch, patch to token and token to token
// In a pass over next tokens (reading.h) a causal layer puts their keys and values beside those of
// the tokens before them, and each attends to all places up to its own.
//
// The gradient to the inputs is LibTorch's own, of this operation alone. The table's per-sample
// gradients are formed: the gradient of a sample's scores [H, T, T], added up by distance.
#pragma once

#include "harness/models/graph/layers.h"
#include "harness/models/layers/layer.h"

namespace hyfreedp::models {

// The angles of the rotations, [1 + side^2, head_width / 2] float64; the class token's are 0.
torch::Tensor grid_angles(const GridRotation& grid, std::int64_t head_width);

// Row of the table for each pair of positions, [(1 + side^2)^2] int64: query position times
// 1 + side^2 plus key position.
torch::Tensor distance_rows(std::int64_t side);

class Attention : public Layer {
 public:
  explicit Attention(AttentionShape shape) : shape_(std::move(shape)) {}
  std::vector<ParameterSpec> parameters() const override;
  void bind(std::vector<BoundParameter> parameters) override;
  std::vector<std::string> ruled_parameters() const override;
  Reads gradient_reads() const override { return {.inputs = false, .output = false}; }
  torch::Tensor forward_recorded(const Tensors& inputs, Tensors* saved) const override;
  torch::Tensor forward_next(const Tensors& inputs, const NextTokens& tokens,
                             KeysAndValues& past) const override;
  Tensors input_gradients(const ActivationRecord& record, const std::vector<bool>& needed) const override;
  Tensors add_squared_norms(std::span<const ActivationRecord> records,
                            SquaredNorms& squared_norms) const override;
  void add_clipped_sums(std::span<const ActivationRecord> records, const Tensors& formed,
                        const torch::Tensor& factors, std::span<torch::Tensor> sums) const override;

 private:
  struct Heads {
    torch::Tensor q, k, v;  // [B, heads, T, head_width]; k and v may have fewer heads
  };
  // `positions`: of the tokens, [T] or [B, T]; undefined: 0 .. T - 1.
  Heads split(const Tensors& inputs, const torch::Tensor& positions = {}) const;
  torch::Tensor attend(const Tensors& inputs) const;
  torch::Tensor rotated(const torch::Tensor& heads, const torch::Tensor& positions) const;
  torch::Tensor rotated_by_place(const torch::Tensor& heads) const;
  torch::Tensor bias() const;                                          // [1, heads, T, T]
  torch::Tensor table_gradient(const ActivationRecord& record) const;  // [B, distances, heads]
  torch::Tensor table_gradients(std::span<const ActivationRecord> records) const;

  AttentionShape shape_;
  BoundParameter table_;
  // The frequencies of the rotation, kept on the heads' device, because a copy to a GPU at each
  // call would wait for it. With a grid, cosine and sine of its angles, [2, T, head_width / 2].
  mutable torch::Tensor frequencies_;
  mutable torch::Tensor rows_;  // distance_rows(), kept likewise
};

}  // namespace hyfreedp::models
