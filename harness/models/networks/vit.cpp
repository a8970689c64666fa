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

std::shared_ptr<Layer> norm_of(const VitShape& shape, std::int64_t width) {
  return std::make_shared<LayerNorm>(width, shape.norm_eps());
}

// What a block adds to the stream, multiplied by the block's parameter `gamma` where it has one.
int add_to_stream(Builder& builder, const VitShape& shape, const std::string& name, const std::string& gamma,
                  int stream, int branch) {
  if (shape.layer_scale > 0) {
    branch = builder.add("", std::make_shared<BareScale>(gamma, shape.width), {branch});
  }
  return builder.add(name, std::make_shared<Add>(), {stream, branch});
}

// Attention of the place `x`, without the projection of what comes out.
int add_attention(Builder& builder, const VitShape& shape, const std::string& name, int x) {
  const auto d = shape.width;
  AttentionShape heads;
  heads.heads = heads.kv_heads = shape.heads;
  heads.head_width = d / shape.heads;
  heads.side = shape.relative_bias ? shape.side() : 0;
  if (shape.is_eva02()) {
    heads.packed = false;
    heads.grid = GridRotation{.side = shape.side(), .trained_side = VitShape::kRotarySide};
    const int q = builder.linear(name + ".q_proj", {d, d, shape.qkv_bias}, x);
    const int k = builder.linear(name + ".k_proj", {d, d, false}, x);
    const int v = builder.linear(name + ".v_proj", {d, d, shape.qkv_bias}, x);
    return builder.add(name, std::make_shared<Attention>(heads), {q, k, v});
  }
  const bool beit = shape.is_beit();
  int qkv = builder.linear(name + ".qkv", {d, 3 * d, shape.qkv_bias && !beit}, x);
  if (shape.qkv_bias && beit) {
    qkv = builder.add("", std::make_shared<QueryValueBias>(name + ".", d), {qkv});
  }
  return builder.add(name, std::make_shared<Attention>(heads), {qkv});
}

// A block's MLP of the place `x`.
int add_mlp(Builder& builder, const VitShape& shape, const std::string& name, int x) {
  const auto d = shape.width, hidden = shape.hidden();
  int wide = 0;
  if (shape.is_eva02()) {
    const int gate = builder.linear(name + ".fc1_g", {d, hidden}, x);
    const int up = builder.linear(name + ".fc1_x", {d, hidden}, x);
    wide = builder.add(name + ".act", std::make_shared<GatedSilu>(), {gate, up});
    wide = builder.add(name + ".norm", norm_of(shape, hidden), {wide});
  } else {
    wide = builder.linear(name + ".fc1", {d, hidden}, x);
    const auto form = shape.quick_gelu ? Gelu::Form::quick : Gelu::Form::exact;
    wide = builder.add(name + ".act", std::make_shared<Gelu>(form), {wide});
  }
  return builder.linear(name + ".fc2", {hidden, d}, wide);
}

// Adds block `name`, which reads the place `x`. Returns the place of its output.
int add_block(Builder& builder, const VitShape& shape, const std::string& name, int x) {
  const auto d = shape.width;
  const int normed = builder.add(name + ".norm1", norm_of(shape, d), {x});
  const int attended = add_attention(builder, shape, name + ".attn", normed);
  const int projected = builder.linear(name + ".attn.proj", {d, d}, attended);
  x = add_to_stream(builder, shape, name + ".add1", name + ".gamma_1", x, projected);
  const int second = builder.add(name + ".norm2", norm_of(shape, d), {x});
  const int narrow = add_mlp(builder, shape, name + ".mlp", second);
  return add_to_stream(builder, shape, name + ".add2", name + ".gamma_2", x, narrow);
}

// What a head that joins the blocks reads of this one.
int add_summary(Builder& builder, const VitShape& shape, const std::string& name, int x) {
  if (shape.pool == VitShape::Pool::block_tokens) {
    return builder.add(name, std::make_shared<FirstToken>(), {x});
  }
  const auto length = shape.patches() / VitShape::kQuarters;
  return builder.add(name, std::make_shared<MeansOfTokens>(1, VitShape::kQuarters, length), {x});
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
  patches.with_bias = !shape.is_clip();
  builder.add("image", std::make_shared<Unflatten>(
                           std::vector<std::int64_t>{shape.channels, shape.image, shape.image}));
  builder.add("patch_embed.proj", std::make_shared<Conv2d>(patches));
  builder.add("patch_embed", std::make_shared<PlacesToTokens>());
  int x = builder.add("", std::make_shared<ClassToken>("cls_token", d));
  if (shape.positions) {
    const std::vector<std::int64_t> positions{1, shape.patches() + 1, d};
    x = builder.add("", std::make_shared<Positions>("pos_embed", positions));
  }
  if (shape.is_clip()) x = builder.add("norm_pre", norm_of(shape, d));
  std::vector<int> joined;
  for (std::int64_t i = 0; i < shape.depth; ++i) {
    const auto block = "blocks." + std::to_string(i);
    x = add_block(builder, shape, block, x);
    if (shape.joins_blocks()) joined.push_back(add_summary(builder, shape, block + ".pool", x));
  }
  if (shape.joins_blocks()) {
    builder.add("pool", std::make_shared<Concatenate>(), joined);
  } else if (shape.pool == VitShape::Pool::class_token) {
    builder.add("norm", norm_of(shape, d));
    builder.add("pool", std::make_shared<FirstToken>());
  } else {
    builder.add("pool", std::make_shared<MeanTokens>(1));
    builder.add("fc_norm", norm_of(shape, d));
  }
  builder.linear("head", {shape.features(), shape.classes}, builder.last());
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
