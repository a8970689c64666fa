#include "harness/models/networks/vit.h"

#include <cmath>

#include "harness/models/layers/activation.h"
#include "harness/models/layers/attention.h"
#include "harness/models/layers/bare.h"
#include "harness/models/layers/conv2d.h"
#include "harness/models/layers/embedding.h"
#include "harness/models/layers/normalisation.h"
#include "harness/models/layers/query_value_bias.h"
#include "harness/models/layers/shape.h"

namespace hyfreedp::models {
namespace {

constexpr double kLayerNormEps = 1e-6;

// What a block adds to the stream, multiplied by the block's parameter `gamma` where it has one.
int add_to_stream(Builder& builder, const VitShape& shape, const std::string& name, const std::string& gamma,
                  int stream, int branch) {
  if (shape.layer_scale > 0) {
    branch = builder.add("", std::make_shared<BareScale>(gamma, shape.width), {branch});
  }
  return builder.add(name, std::make_shared<Add>(), {stream, branch});
}

// Adds block `name`, which reads the place `x`. Returns the place of its output.
int add_block(Builder& builder, const VitShape& shape, const std::string& name, int x) {
  const auto d = shape.width;
  const auto hidden = static_cast<std::int64_t>(static_cast<double>(d) * shape.mlp_ratio);
  const bool beit = shape.is_beit();
  const int normed = builder.add(name + ".norm1", std::make_shared<LayerNorm>(d, kLayerNormEps), {x});
  int qkv = builder.linear(name + ".attn.qkv", {d, 3 * d, shape.qkv_bias && !beit}, normed);
  if (shape.qkv_bias && beit) {
    qkv = builder.add("", std::make_shared<QueryValueBias>(name + ".attn.", d), {qkv});
  }
  AttentionShape heads;
  heads.heads = heads.kv_heads = shape.heads;
  heads.head_width = d / shape.heads;
  heads.side = shape.relative_bias ? shape.side() : 0;
  const int attended = builder.add(name + ".attn", std::make_shared<Attention>(heads), {qkv});
  const int projected = builder.linear(name + ".attn.proj", {d, d}, attended);
  x = add_to_stream(builder, shape, name + ".add1", name + ".gamma_1", x, projected);
  const int second = builder.add(name + ".norm2", std::make_shared<LayerNorm>(d, kLayerNormEps), {x});
  const int wide = builder.linear(name + ".mlp.fc1", {d, hidden}, second);
  const int active = builder.add(name + ".mlp.act", std::make_shared<Gelu>(Gelu::Form::exact), {wide});
  const int narrow = builder.linear(name + ".mlp.fc2", {hidden, d}, active);
  return add_to_stream(builder, shape, name + ".add2", name + ".gamma_2", x, narrow);
}

}  // namespace

Result<Network> make_vit(const VitShape& shape, const std::optional<Lora>& lora,
                         const torch::TensorOptions& options, const Network::Trainable& trainable) {
  if (auto checked = shape.check(std::string("model ") + shape.model()); !checked) return checked.error();
  Builder builder(lora);
  const auto d = shape.width;
  Conv2dShape patches;
  patches.inputs = shape.channels;
  patches.outputs = d;
  patches.kernel = {shape.patch, shape.patch};
  patches.stride = {shape.patch, shape.patch};
  builder.add("image", std::make_shared<Unflatten>(
                           std::vector<std::int64_t>{shape.channels, shape.image, shape.image}));
  builder.add("patch_embed.proj", std::make_shared<Conv2d>(patches));
  builder.add("patch_embed", std::make_shared<PlacesToTokens>());
  int x = builder.add("", std::make_shared<ClassToken>("cls_token", d));
  if (shape.positions) {
    const std::vector<std::int64_t> positions{1, shape.patches() + 1, d};
    x = builder.add("", std::make_shared<Positions>("pos_embed", positions));
  }
  for (std::int64_t i = 0; i < shape.depth; ++i) {
    x = add_block(builder, shape, "blocks." + std::to_string(i), x);
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
