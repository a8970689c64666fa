// The places of a vision transformer's graph (vit.h).
#include <cmath>
#include <fmt/format.h>

#include "harness/models/networks/vit.h"

namespace hyfreedp::models {
namespace {

constexpr double kDeviation = 0.02;
constexpr double kBeitHeadScale = 1e-3;
constexpr Initial kTruncated{Initial::Kind::truncated, kDeviation};

struct VitParts {
  const VitShape& shape;
  graph::Builder& net;

  int norm(const std::string& name, std::int64_t width, int from) {
    return net.add(name, graph::LayerNorm{width, shape.norm_eps()}, {from});
  }
  void add_tokens() {
    const auto d = shape.width;
    const Conv2dShape patches{.inputs = shape.channels,
                              .outputs = d,
                              .kernel = {shape.patch, shape.patch},
                              .stride = {shape.patch, shape.patch},
                              .with_bias = !shape.is_clip()};
    const auto uniform = uniform_by_inputs(patches.reads());
    net.add("image", graph::Unflatten{{shape.channels, shape.image, shape.image}});
    net.add("patch_embed.proj", graph::Convolution{patches, uniform, uniform});
    net.add("patch_embed", graph::PlacesToTokens{});
    const Initial token = is_of_beit() ? kTruncated : Initial{Initial::Kind::normal, 1e-6};
    net.add("", graph::ClassToken{"cls_token", d, token});
    if (shape.positions) net.add("", graph::Positions{"pos_embed", {1, shape.patches() + 1, d}, kTruncated});
    if (shape.is_clip()) norm("norm_pre", d, net.last());
  }
  // Returns the place of its output.
  int block(std::int64_t number, int x) {
    const auto name = "blocks." + std::to_string(number), attention = name + ".attn";
    const auto d = shape.width;
    net.block(name);
    // Initial values of the projections into the residual stream.
    auto into_stream = kTruncated;
    if (is_of_beit()) into_stream.scale /= std::sqrt(2.0 * static_cast<double>(number + 1));
    const int attended = attend(attention, norm(name + ".norm1", d, x));
    const int projected = linear(attention + ".proj", {.inputs = d, .weight = into_stream}, attended);
    x = add_to_stream(name + ".add1", name + ".gamma_1", x, projected);
    const int wide = widen(name + ".mlp", norm(name + ".norm2", d, x));
    const graph::Linear narrow{.inputs = shape.hidden(), .weight = into_stream};
    return add_to_stream(name + ".add2", name + ".gamma_2", x, linear(name + ".mlp.fc2", narrow, wide));
  }
  // This block's part of the input of a head that joins the blocks.
  int summary(const std::string& name, int x) {
    if (shape.pool == VitShape::Pool::block_tokens) return net.add(name, graph::FirstToken{}, {x});
    const auto length = shape.patches() / VitShape::kQuarters;
    return net.add(name, graph::MeansOfTokens{1, VitShape::kQuarters, length}, {x});
  }
  void add_pool() {
    if (shape.pool == VitShape::Pool::class_token) {
      norm("norm", shape.width, net.last());
      net.add("pool", graph::FirstToken{});
    } else {
      net.add("pool", graph::MeanTokens{1});
      norm("fc_norm", shape.width, net.last());
    }
  }
  void add_head() {
    auto initial = kTruncated;
    if (is_of_beit()) initial.scale *= kBeitHeadScale;
    net.linear("head", {.inputs = shape.features(), .outputs = shape.classes, .weight = initial}, net.last());
    net.head("head");
  }

  // BEiT and EVA-02, which are of the same authors, begin with other values than ViT.
  bool is_of_beit() const { return shape.is_beit() || shape.is_eva02(); }
  // The outputs are as wide as the tokens if `layer` gives no number of outputs.
  int linear(const std::string& name, graph::Linear layer, int from) {
    if (layer.outputs == 0) layer.outputs = shape.width;
    return net.linear(name, layer, from);
  }
  // Attention, without the projection of what comes out.
  int attend(const std::string& name, int x) {
    const auto d = shape.width;
    AttentionShape heads{.heads = shape.heads, .kv_heads = shape.heads, .head_width = d / shape.heads};
    if (shape.is_eva02()) {
      heads.packed = false;
      heads.grid = GridRotation{.side = shape.side(), .trained_side = VitShape::kRotarySide};
      const graph::Linear plain{.inputs = d, .with_bias = false, .weight = kTruncated};
      auto biased = plain;
      biased.with_bias = shape.qkv_bias;
      const int q = linear(name + ".q_proj", biased, x);
      const int k = linear(name + ".k_proj", plain, x);
      const int v = linear(name + ".v_proj", biased, x);
      return net.add(name, graph::Attention{heads}, {q, k, v});
    }
    // BEiT has biases of queries and values beside one projection.
    const bool apart = shape.qkv_bias && shape.is_beit();
    linear(name + ".qkv", {d, 3 * d, shape.qkv_bias && !apart, false, kTruncated}, x);
    if (apart) net.add("", graph::QueryValueBias{name + ".", d});
    heads.side = shape.relative_bias ? shape.side() : 0;
    return net.add(name, graph::Attention{heads});
  }
  // The first half of a block's MLP.
  int widen(const std::string& name, int x) {
    const graph::Linear layer{.inputs = shape.width, .outputs = shape.hidden(), .weight = kTruncated};
    using Kind = graph::Activation::Kind;
    if (shape.is_eva02()) {
      const int gate = linear(name + ".fc1_g", layer, x);
      const int up = linear(name + ".fc1_x", layer, x);
      const int gated = net.add(name + ".act", graph::Activation{Kind::gated_silu}, {gate, up});
      return norm(name + ".norm", shape.hidden(), gated);
    }
    const auto kind = shape.quick_gelu ? Kind::quick_gelu : Kind::gelu;
    return net.add(name + ".act", graph::Activation{kind}, {linear(name + ".fc1", layer, x)});
  }
  // Adds a branch, multiplied by the block's parameter `gamma` where it has one.
  int add_to_stream(const std::string& name, const std::string& gamma, int stream, int branch) {
    if (shape.layer_scale > 0) {
      const Initial initial{Initial::Kind::constant, shape.layer_scale};
      branch = net.add("", graph::Scale{gamma, shape.width, initial}, {branch});
    }
    return net.add(name, graph::Add{}, {stream, branch});
  }
};

}  // namespace

Result<graph::Graph> graph_of(const VitShape& shape, const std::optional<Lora>& lora) {
  if (auto checked = shape.check(std::string("model ") + shape.model()); !checked) return checked.error();
  graph::Builder net(lora);
  VitParts parts{shape, net};
  parts.add_tokens();
  int x = net.last();
  std::vector<int> joined;
  for (std::int64_t i = 0; i < shape.depth; ++i) {
    x = parts.block(i, x);
    if (shape.joins_blocks()) joined.push_back(parts.summary(fmt::format("blocks.{}.pool", i), x));
  }
  if (shape.joins_blocks()) {
    net.add("pool", graph::Concatenate{}, joined);
  } else {
    parts.add_pool();
  }
  parts.add_head();
  return net.finish();
}

}  // namespace hyfreedp::models
