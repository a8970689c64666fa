// Vision transformers (Dosovitskiy et al., arXiv:2010.11929) with timm's names and conventions: pre-norm blocks, one qkv
// projection, exact GELU, LayerNorm eps 1e-6, class token and position embedding over it and the patches.
//
// Input: images [B, channels, image, image], normalised by the caller. Output: [B, classes].
#pragma once

#include "harness/models/builder.h"

namespace hyfreedp::models {

struct VitShape {
  std::int64_t image = 224;  // pixels a side
  std::int64_t patch = 16;
  std::int64_t channels = 3;
  std::int64_t width = 192;
  std::int64_t depth = 12;
  std::int64_t heads = 3;
  double mlp_ratio = 4;
  std::int64_t classes = 1000;
  bool qkv_bias = true;
  enum class Pool { class_token, mean };  // mean: of the patches, and the norm comes after it ("fc_norm")
  Pool pool = Pool::class_token;

  std::int64_t patches() const { return image / patch * (image / patch); }

  // timm's config.json: `architecture` vit_{tiny|small|base|large}_patch{P}_{image}, `model_args` on top of it.
  static Result<VitShape> from_json(const json::object& config, const std::string& where);
};

Result<Network> make_vit(const VitShape& shape, const std::optional<Lora>& lora,
                         const torch::TensorOptions& options, const Network::Trainable& trainable);

// A position embedding [1, 1 + n^2, D] for another number of patches, [1, 1 + m^2, D]: the class token's row kept, the
// others resampled bicubically with antialiasing, as timm does.
torch::Tensor resized_positions(const torch::Tensor& positions, std::int64_t patches);

}  // namespace hyfreedp::models
