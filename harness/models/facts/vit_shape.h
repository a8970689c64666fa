// The sizes of a vision-transformer network (vit.h), without LibTorch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/json.h"

namespace hyfreedp::models {

struct VitShape {
  // BEiT is a ViT with the parts below that begin with "BEiT". BEiTv2 is the same network.
  enum class Family { vit, beit };
  Family family = Family::vit;
  std::int64_t image = 224;  // side in pixels
  std::int64_t patch = 16;
  std::int64_t channels = 3;
  std::int64_t width = 192;
  std::int64_t depth = 12;
  std::int64_t heads = 3;
  double mlp_ratio = 4;
  std::int64_t classes = 1000;
  bool qkv_bias = true;                   // BEiT: of queries and values, none of keys
  enum class Pool { class_token, mean };  // mean: over the patches, before the norm "fc_norm"
  Pool pool = Pool::class_token;
  bool positions = true;       // a position embedding, added once
  bool relative_bias = false;  // BEiT: attention has a bias for each distance between two patches
  double layer_scale = 0;      // BEiT: initial value of gamma_1 and gamma_2; 0: there are none

  static VitShape beit();  // with BEiT's parts, of the sizes above
  bool is_beit() const { return family == Family::beit; }
  const char* model() const { return is_beit() ? "beit" : "vit"; }
  std::int64_t side() const { return image / patch; }  // patches a side
  std::int64_t patches() const { return side() * side(); }
  // Rows of a table of relative biases: one for each distance, three of the class token.
  std::int64_t distances() const { return (2 * side() - 1) * (2 * side() - 1) + 3; }

  // Sizes by name, such as "vit_tiny_patch16_224" or, of BEiT, "beit_large_patch16_512". An error
  // that begins with `where` for another name.
  static Result<VitShape> named(const std::string& name, const std::string& where,
                                Family family = Family::vit);
  // Sizes from timm's config.json: `architecture`, a name as above, changed by `model_args`.
  static Result<VitShape> from_json(const json::object& config, const std::string& where,
                                    Family family = Family::vit);
  Result<void> check(const std::string& where) const;
};

}  // namespace hyfreedp::models
