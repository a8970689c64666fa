#include "harness/models/vit.h"

#include <charconv>
#include <cmath>

#include "harness/base/text.h"
#include "harness/models/activation.h"
#include "harness/models/attention.h"
#include "harness/models/conv2d.h"
#include "harness/models/embedding.h"
#include "harness/models/normalisation.h"
#include "harness/models/shape.h"

namespace hyfreedp::models {
namespace {

constexpr double kEps = 1e-6;

struct Size {
  const char* name;
  std::int64_t width, depth, heads;
};
constexpr Size kSizes[] = {
    {"tiny", 192, 12, 3}, {"small", 384, 12, 6}, {"base", 768, 12, 12}, {"large", 1024, 24, 16}};

// "vit_tiny_patch16_224" -> shape.
Result<VitShape> named_shape(const std::string& name, const std::string& where) {
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
               "' is not known; vit_{tiny|small|base|large}_patch{P}_{image} are");
}

Result<void> check(const VitShape& shape, const std::string& where) {
  const auto bad = [&](const std::string& what) { return error(where + ": " + what); };
  if (shape.patch < 1 || shape.image < shape.patch || shape.image % shape.patch != 0) {
    return bad("the image's " + std::to_string(shape.image) + " pixels are no multiple of the patch's " +
               std::to_string(shape.patch));
  }
  if (shape.heads < 1 || shape.width < 1 || shape.width % shape.heads != 0) {
    return bad("the width " + std::to_string(shape.width) + " is no multiple of " +
               std::to_string(shape.heads) + " heads");
  }
  if (shape.depth < 1 || shape.classes < 1 || shape.channels < 1 || !(shape.mlp_ratio > 0)) {
    return bad("depth, classes, channels and mlp_ratio must be positive");
  }
  return {};
}

}  // namespace

Result<VitShape> VitShape::from_json(const json::object& config, const std::string& where) {
  auto shape = named_shape(string_or(config, "architecture", ""), where);
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
  if (auto checked = check(*shape, where); !checked) return checked.error();
  return shape;
}

Result<Network> make_vit(const VitShape& shape, const std::optional<Lora>& lora,
                         const torch::TensorOptions& options, const Network::Trainable& trainable) {
  if (auto checked = check(shape, "model vit"); !checked) return checked.error();
  Builder builder(lora);
  const auto d = shape.width;
  const auto hidden = static_cast<std::int64_t>(static_cast<double>(d) * shape.mlp_ratio);
  Conv2dShape patches;
  patches.inputs = shape.channels;
  patches.outputs = d;
  patches.kernel = {shape.patch, shape.patch};
  patches.stride = {shape.patch, shape.patch};
  builder.add("patch_embed.proj", std::make_shared<Conv2d>(patches));
  builder.add("patch_embed", std::make_shared<PlacesToTokens>());
  builder.add("", std::make_shared<ClassToken>("cls_token", d));
  int x = builder.add(
      "", std::make_shared<Positions>("pos_embed", std::vector<std::int64_t>{1, shape.patches() + 1, d}));
  for (std::int64_t i = 0; i < shape.depth; ++i) {
    const auto block = "blocks." + std::to_string(i);
    const int normed = builder.add(block + ".norm1", std::make_shared<LayerNorm>(d, kEps), {x});
    const int qkv = builder.linear(block + ".attn.qkv", {d, 3 * d, shape.qkv_bias}, normed);
    AttentionShape heads;
    heads.heads = heads.kv_heads = shape.heads;
    heads.head_width = d / shape.heads;
    const int attended = builder.add(block + ".attn", std::make_shared<Attention>(heads), {qkv});
    const int projected = builder.linear(block + ".attn.proj", {d, d}, attended);
    x = builder.add(block + ".add1", std::make_shared<Add>(), {x, projected});
    const int second = builder.add(block + ".norm2", std::make_shared<LayerNorm>(d, kEps), {x});
    const int wide = builder.linear(block + ".mlp.fc1", {d, hidden}, second);
    const int active = builder.add(block + ".mlp.act", std::make_shared<Gelu>(Gelu::Form::exact), {wide});
    const int narrow = builder.linear(block + ".mlp.fc2", {hidden, d}, active);
    x = builder.add(block + ".add2", std::make_shared<Add>(), {x, narrow});
  }
  if (shape.pool == VitShape::Pool::class_token) {
    builder.add("norm", std::make_shared<LayerNorm>(d, kEps));
    builder.add("pool", std::make_shared<FirstToken>());
  } else {
    builder.add("pool", std::make_shared<MeanTokens>(1));
    builder.add("fc_norm", std::make_shared<LayerNorm>(d, kEps));
  }
  builder.linear("head", {d, shape.classes}, builder.last());
  return builder.build(options, trainable);
}

torch::Tensor resized_positions(const torch::Tensor& positions, std::int64_t patches) {
  const auto side = [](std::int64_t count) {
    const auto root = std::llround(std::sqrt(static_cast<double>(count)));
    HYFREEDP_CHECK(root * root == count, "a position embedding is of a square of patches");
    return static_cast<std::int64_t>(root);
  };
  const auto from = side(positions.size(1) - 1);
  const auto to = side(patches);
  if (from == to) return positions;
  const auto grid = positions.narrow(1, 1, from * from).view({1, from, from, -1}).permute({0, 3, 1, 2});
  const auto resized = at::_upsample_bicubic2d_aa(grid.to(torch::kFloat32).contiguous(), {to, to}, false);
  const auto rows = resized.permute({0, 2, 3, 1}).reshape({1, to * to, -1}).to(positions.scalar_type());
  return at::cat({positions.narrow(1, 0, 1), rows}, 1);
}

}  // namespace hyfreedp::models
