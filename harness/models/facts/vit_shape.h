// The sizes of a vision-transformer network (vit.h), without LibTorch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/json.h"

namespace hyfreedp::models {

struct VitShape {
  std::int64_t image = 224;  // side in pixels
  std::int64_t patch = 16;
  std::int64_t channels = 3;
  std::int64_t width = 192;
  std::int64_t depth = 12;
  std::int64_t heads = 3;
  double mlp_ratio = 4;
  std::int64_t classes = 1000;
  bool qkv_bias = true;
  enum class Pool { class_token, mean };  // mean: over the patches, before the norm "fc_norm"
  Pool pool = Pool::class_token;

  std::int64_t patches() const { return image / patch * (image / patch); }

  // Sizes by name, such as "vit_tiny_patch16_224". An error that begins with `where` for another
  // name.
  static Result<VitShape> named(const std::string& name, const std::string& where);
  // Sizes from timm's config.json: `architecture` vit_{tiny|small|base|large}_patch{P}_{image},
  // changed by `model_args`.
  static Result<VitShape> from_json(const json::object& config, const std::string& where);
  Result<void> check(const std::string& where) const;
};

}  // namespace hyfreedp::models
