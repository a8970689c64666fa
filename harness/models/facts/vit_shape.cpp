#include "harness/models/facts/vit_shape.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

#include "harness/base/text.h"

namespace hyfreedp::models {
namespace {

struct Size {
  const char* prefix;
  VitShape::Family family;
  std::int64_t width, depth, heads;
  double layer_scale = 0;
};
constexpr auto kVit = VitShape::Family::vit;
constexpr auto kBeit = VitShape::Family::beit;
constexpr Size kSizes[] = {{"vit_tiny_patch", kVit, 192, 12, 3},
                           {"vit_small_patch", kVit, 384, 12, 6},
                           {"vit_base_patch", kVit, 768, 12, 12},
                           {"vit_large_patch", kVit, 1024, 24, 16},
                           {"beit_base_patch", kBeit, 768, 12, 12, 0.1},
                           {"beit_large_patch", kBeit, 1024, 24, 16, 1e-5},
                           {"beitv2_base_patch", kBeit, 768, 12, 12, 1e-5},
                           {"beitv2_large_patch", kBeit, 1024, 24, 16, 1e-5}};
constexpr double kBeitLayerScale = 0.1;
constexpr std::int64_t kMostLength = 65536;
constexpr std::int64_t kMostBlocks = 1000;

const char* names_of(VitShape::Family family) {
  return family == kBeit ? "{beit|beitv2}_{base|large}_patch{P}_{image}"
                         : "vit_{tiny|small|base|large}_patch{P}_{image}";
}

}  // namespace

VitShape VitShape::beit() {
  VitShape shape;
  shape.family = Family::beit;
  shape.pool = Pool::mean;
  shape.positions = false;
  shape.relative_bias = true;
  shape.layer_scale = kBeitLayerScale;
  return shape;
}

Result<VitShape> VitShape::named(const std::string& name, const std::string& where, Family family) {
  auto shape = family == Family::beit ? beit() : VitShape();
  for (const auto& size : kSizes) {
    const std::string prefix = size.prefix;
    if (!name.starts_with(prefix)) continue;
    if (size.family != family) {
      const char* own = size.family == Family::beit ? "beit" : "vit";
      return error(
          fmt::format("{}: architecture '{}' is one of the model {}, not of {}. Use '{}' as the model "
                      "or network.",
                      where, name, own, shape.model(), own));
    }
    const char* at = name.data() + prefix.size();
    const char* end = name.data() + name.size();
    const auto patch = std::from_chars(at, end, shape.patch);
    if (patch.ec != std::errc() || patch.ptr == end || *patch.ptr != '_') break;
    const auto image = std::from_chars(patch.ptr + 1, end, shape.image);
    if (image.ec != std::errc() || (image.ptr != end && *image.ptr != '.')) break;
    shape.width = size.width;
    shape.depth = size.depth;
    shape.heads = size.heads;
    shape.layer_scale = size.layer_scale;
    return shape;
  }
  return error(where + ": architecture '" + name + "' is not known. Sizes: " + names_of(family) + ".");
}

Result<void> VitShape::check(const std::string& where) const {
  const auto bad = [&](const std::string& what) { return error(where + ": " + what + "."); };
  // As options have them; beyond, the number of tensors' entries would overflow.
  if (std::max({image, patch, width, heads}) > kMostLength || depth > kMostBlocks ||
      mlp_ratio > kMostLength) {
    return bad("image, patch, width, heads and mlp_ratio must be at most " + std::to_string(kMostLength) +
               ", depth at most " + std::to_string(kMostBlocks));
  }
  if (patch < 1 || image < patch || image % patch != 0) {
    return bad("the image's " + std::to_string(image) + " pixels are not a multiple of the patch's " +
               std::to_string(patch));
  }
  if (heads < 1 || width < 1 || width % heads != 0) {
    return bad("the width " + std::to_string(width) + " is not a multiple of " + std::to_string(heads) +
               " heads");
  }
  if (depth < 1 || classes < 1 || channels < 1 || !(mlp_ratio > 0)) {
    return bad("depth, classes, channels and mlp_ratio must be positive");
  }
  if (!(layer_scale >= 0)) return bad("init_values must be null or a positive number");
  return {};
}

Result<VitShape> VitShape::from_json(const json::object& config, const std::string& where, Family family) {
  auto shape = named(string_or(config, "architecture", ""), where, family);
  if (!shape) return shape;
  const bool beit = shape->is_beit();
  shape->classes = int_or(config, "num_classes", shape->classes);
  auto pool = string_or(config, "global_pool", beit ? "avg" : "token");
  if (const auto* args = config.if_contains("model_args"); args != nullptr && args->is_object()) {
    std::vector<std::string> known = {"img_size",  "patch_size", "embed_dim", "depth",       "num_heads",
                                      "mlp_ratio", "in_chans",   "qkv_bias",  "global_pool", "num_classes"};
    if (beit) known.insert(known.end(), {"use_abs_pos_emb", "use_rel_pos_bias", "init_values"});
    const auto& given = args->get_object();
    for (const auto& item : given) {
      const std::string key(item.key());
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        return error(
            fmt::format("{}.model_args: '{}' is not supported.{}", where, key, did_you_mean(key, known)));
      }
    }
    shape->image = int_or(given, "img_size", shape->image);
    shape->patch = int_or(given, "patch_size", shape->patch);
    shape->width = int_or(given, "embed_dim", shape->width);
    shape->depth = int_or(given, "depth", shape->depth);
    shape->heads = int_or(given, "num_heads", shape->heads);
    shape->mlp_ratio = double_or(given, "mlp_ratio", shape->mlp_ratio);
    shape->channels = int_or(given, "in_chans", shape->channels);
    shape->qkv_bias = bool_or(given, "qkv_bias", shape->qkv_bias);
    shape->classes = int_or(given, "num_classes", shape->classes);
    pool = string_or(given, "global_pool", pool);
    shape->positions = bool_or(given, "use_abs_pos_emb", shape->positions);
    shape->relative_bias = bool_or(given, "use_rel_pos_bias", shape->relative_bias);
    if (const auto* scale = given.if_contains("init_values")) {
      shape->layer_scale = scale->is_null() ? 0 : double_or(given, "init_values", shape->layer_scale);
    }
  }
  if (pool != "token" && pool != "avg")
    return error(where + ": global_pool '" + pool + "' is not token or avg");
  shape->pool = pool == "avg" ? Pool::mean : Pool::class_token;
  if (auto checked = shape->check(where); !checked) return checked.error();
  return shape;
}

}  // namespace hyfreedp::models
