// The places of a vision transformer's graph (vit.h).
#include <cmath>
#include <fmt/format.h>

#include "harness/models/networks/vit.h"

namespace hyfreedp::models {
namespace {

constexpr double kDeviation = 0.02;
constexpr double kBeitHeadScale = 1e-3;
constexpr Initial kTruncated{Initial::Kind::truncated, kDeviation};

class VitParts {
 public:
  VitParts(const VitShape& shape, graph::Builder& net) : shape_(shape), net_(net) {}

  int norm(const std::string& name, std::int64_t width, int from) {
    return net_.add(name, graph::LayerNorm{width, shape_.norm_eps()}, {from});
  }
  void add_tokens() {
    const auto d = shape_.width;
    const Conv2dShape patches{.inputs = shape_.channels,
                              .outputs = d,
                              .kernel = {shape_.patch, shape_.patch},
                              .stride = {shape_.patch, shape_.patch},
                              .with_bias = !shape_.is_clip()};
    const auto uniform = uniform_by_inputs(patches.reads());
    net_.add("image", graph::Unflatten{{shape_.channels, shape_.image, shape_.image}});
    net_.add("patch_embed.proj", graph::Convolution{patches, uniform, uniform});
    net_.add("patch_embed", graph::PlacesToTokens{});
    const Initial token = is_of_beit() ? kTruncated : Initial{Initial::Kind::normal, 1e-6};
    net_.add("", graph::ClassToken{"cls_token", d, token});
    if (shape_.positions)
      net_.add("", graph::Positions{"pos_embed", {1, shape_.patches() + 1, d}, kTruncated});
    if (shape_.is_clip()) norm("norm_pre", d, net_.last());
  }
  // Returns the place of its output.
  int block(std::int64_t number, int x) {
    const auto name = "blocks." + std::to_string(number), attention = name + ".attn";
    const auto d = shape_.width;
    net_.block(name);
    // Of the projections into the residual stream.
    auto into_stream = kTruncated;
    if (is_of_beit()) into_stream.scale /= std::sqrt(2.0 * static_cast<double>(number + 1));
    const int attended = attend(attention, norm(name + ".norm1", d, x));
    const int projected = linear(attention + ".proj", {.inputs = d, .weight = into_stream}, attended);
    x = add_to_stream(name + ".add1", name + ".gamma_1", x, projected);
    const int wide = widen(name + ".mlp", norm(name + ".norm2", d, x));
    const graph::Linear narrow{.inputs = shape_.hidden(), .weight = into_stream};
    return add_to_stream(name + ".add2", name + ".gamma_2", x, linear(name + ".mlp.fc2", narrow, wide));
  }
  // What a head that joins the blocks reads of this one.
  int summary(const std::string& name, int x) {
    if (shape_.pool == VitShape::Pool::block_tokens) return net_.add(name, graph::FirstToken{}, {x});
    const auto length = shape_.patches() / VitShape::kQuarters;
    return net_.add(name, graph::MeansOfTokens{1, VitShape::kQuarters, length}, {x});
  }
  void add_pool() {
    if (shape_.pool == VitShape::Pool::class_token) {
      norm("norm", shape_.width, net_.last());
      net_.add("pool", graph::FirstToken{});
    } else {
      net_.add("pool", graph::MeanTokens{1});
      norm("fc_norm", shape_.width, net_.last());
    }
  }
  void add_head() {
    auto initial = kTruncated;
    if (is_of_beit()) initial.scale *= kBeitHeadScale;
    net_.linear("head", {.inputs = shape_.features(), .outputs = shape_.classes, .weight = initial},
                net_.last());
    net_.head("head");
  }

 private:
  // BEiT and EVA-02, which are of the same authors, begin with other values than ViT.
  bool is_of_beit() const { return shape_.is_beit() || shape_.is_eva02(); }
  // As wide as the tokens where `layer` has no number of outputs.
  int linear(const std::string& name, graph::Linear layer, int from) {
    if (layer.outputs == 0) layer.outputs = shape_.width;
    return net_.linear(name, layer, from);
  }
  // Attention, without the projection of what comes out.
  int attend(const std::string& name, int x) {
    const auto d = shape_.width;
    AttentionShape heads{.heads = shape_.heads, .kv_heads = shape_.heads, .head_width = d / shape_.heads};
    if (shape_.is_eva02()) {
      heads.packed = false;
      heads.grid = GridRotation{.side = shape_.side(), .trained_side = VitShape::kRotarySide};
      const graph::Linear plain{.inputs = d, .with_bias = false, .weight = kTruncated};
      auto biased = plain;
      biased.with_bias = shape_.qkv_bias;
      const int q = linear(name + ".q_proj", biased, x);
      const int k = linear(name + ".k_proj", plain, x);
      const int v = linear(name + ".v_proj", biased, x);
      return net_.add(name, graph::Attention{heads}, {q, k, v});
    }
    // BEiT has biases of queries and values beside one projection.
    const bool apart = shape_.qkv_bias && shape_.is_beit();
    linear(name + ".qkv", {d, 3 * d, shape_.qkv_bias && !apart, false, kTruncated}, x);
    if (apart) net_.add("", graph::QueryValueBias{name + ".", d});
    heads.side = shape_.relative_bias ? shape_.side() : 0;
    return net_.add(name, graph::Attention{heads});
  }
  // The first half of a block's MLP.
  int widen(const std::string& name, int x) {
    const graph::Linear layer{.inputs = shape_.width, .outputs = shape_.hidden(), .weight = kTruncated};
    using Kind = graph::Activation::Kind;
    if (shape_.is_eva02()) {
      const int gate = linear(name + ".fc1_g", layer, x);
      const int up = linear(name + ".fc1_x", layer, x);
      const int gated = net_.add(name + ".act", graph::Activation{Kind::gated_silu}, {gate, up});
      return norm(name + ".norm", shape_.hidden(), gated);
    }
    const auto kind = shape_.quick_gelu ? Kind::quick_gelu : Kind::gelu;
    return net_.add(name + ".act", graph::Activation{kind}, {linear(name + ".fc1", layer, x)});
  }
  // Adds a branch, multiplied by the block's parameter `gamma` where it has one.
  int add_to_stream(const std::string& name, const std::string& gamma, int stream, int branch) {
    if (shape_.layer_scale > 0) {
      const Initial initial{Initial::Kind::constant, shape_.layer_scale};
      branch = net_.add("", graph::Scale{gamma, shape_.width, initial}, {branch});
    }
    return net_.add(name, graph::Add{}, {stream, branch});
  }

  const VitShape& shape_;
  graph::Builder& net_;
};

}  // namespace

Result<graph::Graph> graph_of(const VitShape& shape, const std::optional<Lora>& lora) {
  if (auto checked = shape.check(std::string("model ") + shape.model()); !checked) return checked.error();
  graph::Builder net(lora);
  VitParts parts(shape, net);
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
