// Vision transformers (Dosovitskiy et al., arXiv:2010.11929) with timm's names and conventions:
// pre-norm blocks, one qkv projection, exact GELU, LayerNorm eps 1e-6, a class token, and a
// position embedding over it and the patches.
//
// BEiT (Bao et al., arXiv:2106.08254) and BEiTv2 (Peng et al., arXiv:2208.06366) are the same
// network with other parts (VitShape): no position embedding but a bias of attention by distance
// (layers/attention.h), no bias of keys (layers/query_value_bias.h), each branch of a block
// multiplied by a vector gamma_1 or gamma_2, and the mean of the patches for the head.
//
// CLIP's image towers (Radford et al., arXiv:2103.00020) have a norm before the blocks, LayerNorm
// eps 1e-5, no bias of the patches' projection, and OpenAI's the quick GELU. EVA-02 (Fang et al.,
// arXiv:2303.11331) has rotations of queries and keys by place (layers/attention.h), projections of
// its own for queries, keys (without bias) and values, and a gated MLP with a norm before its last
// layer.
//
// The head reads the class token, the mean of the patches, or what all blocks give, joined
// (VitShape::Pool).
//
// Input: images [B, channels, image, image], or the same numbers as [B, channels * image * image];
// the caller normalises them. Output: logits [B, classes].
//
// Initial values are timm's: linear layers and positions truncated normal 0.02, class token normal
// 1e-6, patches uniform 1/sqrt(inputs). Of BEiT and EVA-02 the class token is truncated normal
// 0.02, projections into the residual stream 0.02 / sqrt(2 i) in block i = 1, 2, ..., the head
// 2e-5; biases of attention are 0, and layer scale is as the size has it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/models/networks/description.h"

namespace hyfreedp::models {

struct VitShape {
  // BEiT, CLIP's image towers and EVA-02 are ViTs with the parts below that begin with their names.
  // BEiTv2 is BEiT's network.
  enum class Family { vit, beit, clip, eva02 };
  Family family = Family::vit;
  std::int64_t image = 224;  // side in pixels
  std::int64_t patch = 16;
  std::int64_t channels = 3;
  std::int64_t width = 192;
  std::int64_t depth = 12;
  std::int64_t heads = 3;
  double mlp_ratio = 4;
  std::int64_t classes = 1000;
  bool qkv_bias = true;  // BEiT, EVA-02: of queries and values, none of keys
  // The input of the head. mean: the mean over the patches, before the norm "fc_norm". The last two
  // join, without a norm, a part of every block's output, from the first block on: its class token,
  // or the means of four equal runs of patches; patches beyond them are left out.
  enum class Pool { class_token, mean, block_tokens, block_quarters };
  Pool pool = Pool::class_token;
  bool positions = true;       // a position embedding, added once
  bool relative_bias = false;  // BEiT: attention has a bias for each distance between two patches
  double layer_scale = 0;      // BEiT: initial value of gamma_1 and gamma_2; 0: there are none
  bool quick_gelu = false;     // CLIP: x sigmoid(1.702 x) for GELU, as OpenAI trained theirs

  static VitShape of(Family family);  // with the family's parts, of the sizes above
  bool is_beit() const { return family == Family::beit; }
  // CLIP: a norm before the blocks, and no bias of the patches' projection.
  bool is_clip() const { return family == Family::clip; }
  // EVA-02: queries and keys are rotated by place, and a block's MLP is gated, with a norm within.
  bool is_eva02() const { return family == Family::eva02; }
  const char* model() const;
  double norm_eps() const { return is_clip() ? 1e-5 : 1e-6; }
  bool joins_blocks() const { return pool == Pool::block_tokens || pool == Pool::block_quarters; }
  // Numbers that the head reads.
  std::int64_t features() const;
  // The name of `pool`, as the option of that name and config.json have it.
  const char* pool_name() const;
  // Reads such a name, with "mean" for "avg"; false where there is none of that name.
  bool set_pool(const std::string& name);
  std::int64_t hidden() const { return static_cast<std::int64_t>(static_cast<double>(width) * mlp_ratio); }
  // Patches a side of the images on which EVA-02's rotations were first trained, as timm has it:
  // places of other images are scaled to these.
  static constexpr std::int64_t kRotarySide = 16;
  static constexpr std::int64_t kQuarters = 4;         // of block_quarters
  std::int64_t side() const { return image / patch; }  // patches a side
  std::int64_t patches() const { return side() * side(); }

  // Sizes by name, such as "vit_tiny_patch16_224", "beit_large_patch16_512",
  // "vit_giant_patch14_clip_224" (with "clip_quickgelu": OpenAI's activation) or
  // "eva02_large_patch14_448". An error that begins with `where` for another name, and for one of
  // another family.
  static Result<VitShape> named(const std::string& name, const std::string& where,
                                Family family = Family::vit);
  // Sizes from timm's config.json: `architecture`, a name as above, changed by `model_args`.
  static Result<VitShape> from_json(const json::object& config, const std::string& where,
                                    Family family = Family::vit);
  Result<void> check(const std::string& where) const;
};

Result<graph::Graph> graph_of(const VitShape& shape, const std::optional<Lora>& lora = {});

json::object model_config(const VitShape& shape);

Facts vit_facts();
Facts beit_facts();
Facts clip_facts();
Facts eva02_facts();

}  // namespace hyfreedp::models
