#include "harness/models/facts/vit_shape.h"

#include <algorithm>
#include <charconv>

#include "harness/base/text.h"

namespace hyfreedp::models {
namespace {

struct Size {
  const char* name;
  std::int64_t width, depth, heads;
};
constexpr Size kSizes[] = {
    {"tiny", 192, 12, 3}, {"small", 384, 12, 6}, {"base", 768, 12, 12}, {"large", 1024, 24, 16}};

}  // namespace

Result<VitShape> VitShape::named(const std::string& name, const std::string& where) {
  VitShape shape;
  for (const auto& size : kSizes) {
    const auto prefix = std::string("vit_") + size.name + "_patch";
    if (!name.starts_with(prefix)) continue;
    const char* at = name.data() + prefix.size();
    const char* end = name.data() + name.size();
    const auto patch = std::from_chars(at, end, shape.patch);
    if (patch.ec != std::errc() || patch.ptr == end || *patch.ptr != '_') break;
    const auto image = std::from_chars(patch.ptr + 1, end, shape.image);
    if (image.ec != std::errc() || (image.ptr != end && *image.ptr != '.')) break;
    shape.width = size.width;
    shape.depth = size.depth;
    shape.heads = size.heads;
    return shape;
  }
  return error(where + ": architecture '" + name +
               "' is not known. Sizes: vit_{tiny|small|base|large}_patch{P}_{image}.");
}

Result<void> VitShape::check(const std::string& where) const {
  const auto bad = [&](const std::string& what) { return error(where + ": " + what + "."); };
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
  return {};
}

Result<VitShape> VitShape::from_json(const json::object& config, const std::string& where) {
  auto shape = named(string_or(config, "architecture", ""), where);
  if (!shape) return shape;
  shape->classes = int_or(config, "num_classes", shape->classes);
  auto pool = string_or(config, "global_pool", "token");
  if (const auto* args = config.if_contains("model_args"); args != nullptr && args->is_object()) {
    static const std::vector<std::string> known = {"img_size",    "patch_size", "embed_dim", "depth",
                                                   "num_heads",   "mlp_ratio",  "in_chans",  "qkv_bias",
                                                   "global_pool", "num_classes"};
    const auto& given = args->get_object();
    for (const auto& item : given) {
      const std::string key(item.key());
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        return error(where + ".model_args: '" + key + "' is not supported." + did_you_mean(key, known));
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
  }
  if (pool != "token" && pool != "avg")
    return error(where + ": global_pool '" + pool + "' is not token or avg");
  shape->pool = pool == "avg" ? Pool::mean : Pool::class_token;
  if (auto checked = shape->check(where); !checked) return checked.error();
  return shape;
}

}  // namespace hyfreedp::models
