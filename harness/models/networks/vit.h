// Vision transformers (Dosovitskiy et al., arXiv:2010.11929) with timm's names and conventions:
// pre-norm blocks, one qkv projection, exact GELU, LayerNorm eps 1e-6, a class token, and a
// position embedding over it and the patches.
//
// BEiT (Bao et al., arXiv:2106.08254) and BEiTv2 (Peng et al., arXiv:2208.06366) are the same
// network with other parts (VitShape): no position embedding but a bias of attention by distance
// (attention.h), no bias of keys (query_value_bias.h), each branch of a block multiplied by a
// vector gamma_1 or gamma_2, and the mean of the patches for the head.
//
// CLIP's image towers (Radford et al., arXiv:2103.00020) have a norm before the blocks, LayerNorm
// eps 1e-5, no bias of the patches' projection, and OpenAI's the quick GELU. EVA-02 (Fang et al.,
// arXiv:2303.11331) has rotations of queries and keys by place (attention.h), projections of its
// own for queries, keys (without bias) and values, and a gated MLP with a norm before its last
// layer.
//
// The head reads the class token, the mean of the patches, or what all blocks give, joined
// (VitShape::Pool).
//
// Input: images [B, channels, image, image], or the same numbers as [B, channels * image * image];
// the caller normalises them. Output: logits [B, classes].
#pragma once

#include "harness/models/facts/vit_shape.h"
#include "harness/models/networks/builder.h"

namespace hyfreedp::models {

Result<Network> make_vit(const VitShape& shape, const std::optional<Lora>& lora,
                         const torch::TensorOptions& options, const Network::Trainable& trainable);

// Resamples a position embedding [1, 1 + n^2, D] to another number of patches, [1, 1 + m^2, D]: the
// class token's row is kept, the others are resampled bicubically with antialiasing, as timm does.
torch::Tensor resized_positions(const torch::Tensor& positions, std::int64_t patches);

}  // namespace hyfreedp::models
