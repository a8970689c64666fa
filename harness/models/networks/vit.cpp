#include "harness/models/networks/vit.h"

#include <cmath>

#include "harness/models/layers/activation.h"
#include "harness/models/layers/attention.h"
#include "harness/models/layers/conv2d.h"
#include "harness/models/layers/embedding.h"
#include "harness/models/layers/normalisation.h"
#include "harness/models/layers/shape.h"

namespace hyfreedp::models {
namespace {

constexpr double kLayerNormEps = 1e-6;

}  // namespace

Result<Network> make_vit(const VitShape& shape, const std::optional<Lora>& lora,
                         const torch::TensorOptions& options, const Network::Trainable& trainable) {
  if (auto checked = shape.check("model vit"); !checked) return checked.error();
  Builder builder(lora);
  const auto d = shape.width;
  const auto hidden = static_cast<std::int64_t>(static_cast<double>(d) * shape.mlp_ratio);
  Conv2dShape patches;
  patches.inputs = shape.channels;
  patches.outputs = d;
  patches.kernel = {shape.patch, shape.patch};
  patches.stride = {shape.patch, shape.patch};
  builder.add("image", std::make_shared<Unflatten>(
                           std::vector<std::int64_t>{shape.channels, shape.image, shape.image}));
  builder.add("patch_embed.proj", std::make_shared<Conv2d>(patches));
  builder.add("patch_embed", std::make_shared<PlacesToTokens>());
  builder.add("", std::make_shared<ClassToken>("cls_token", d));
  int x = builder.add(
      "", std::make_shared<Positions>("pos_embed", std::vector<std::int64_t>{1, shape.patches() + 1, d}));
  for (std::int64_t i = 0; i < shape.depth; ++i) {
    const auto block = "blocks." + std::to_string(i);
    const int normed = builder.add(block + ".norm1", std::make_shared<LayerNorm>(d, kLayerNormEps), {x});
    const int qkv = builder.linear(block + ".attn.qkv", {d, 3 * d, shape.qkv_bias}, normed);
    AttentionShape heads;
    heads.heads = heads.kv_heads = shape.heads;
    heads.head_width = d / shape.heads;
    const int attended = builder.add(block + ".attn", std::make_shared<Attention>(heads), {qkv});
    const int projected = builder.linear(block + ".attn.proj", {d, d}, attended);
    x = builder.add(block + ".add1", std::make_shared<Add>(), {x, projected});
    const int second = builder.add(block + ".norm2", std::make_shared<LayerNorm>(d, kLayerNormEps), {x});
    const int wide = builder.linear(block + ".mlp.fc1", {d, hidden}, second);
    const int active = builder.add(block + ".mlp.act", std::make_shared<Gelu>(Gelu::Form::exact), {wide});
    const int narrow = builder.linear(block + ".mlp.fc2", {hidden, d}, active);
    x = builder.add(block + ".add2", std::make_shared<Add>(), {x, narrow});
  }
  if (shape.pool == VitShape::Pool::class_token) {
    builder.add("norm", std::make_shared<LayerNorm>(d, kLayerNormEps));
    builder.add("pool", std::make_shared<FirstToken>());
  } else {
    builder.add("pool", std::make_shared<MeanTokens>(1));
    builder.add("fc_norm", std::make_shared<LayerNorm>(d, kLayerNormEps));
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
