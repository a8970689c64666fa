#include "harness/models/networks/vit.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <string_view>

#include "harness/models/files/config_keys.h"
#include "harness/models/files/size_lists.h"

namespace hyfreedp::models {
namespace {

struct Size {
  const char* prefix;
  VitShape::Family family;
  std::int64_t width, depth, heads;
  double layer_scale = 0;
  double mlp_ratio = 4;
};
constexpr auto kVit = VitShape::Family::vit;
constexpr auto kBeit = VitShape::Family::beit;
constexpr auto kClip = VitShape::Family::clip;
constexpr auto kEva02 = VitShape::Family::eva02;
constexpr double kGated = 4.0 * 2 / 3;
constexpr Size kSizes[] = {{"vit_tiny_patch", kVit, 192, 12, 3},
                           {"vit_small_patch", kVit, 384, 12, 6},
                           {"vit_base_patch", kVit, 768, 12, 12},
                           {"vit_large_patch", kVit, 1024, 24, 16},
                           {"vit_base_patch", kClip, 768, 12, 12},
                           {"vit_large_patch", kClip, 1024, 24, 16},
                           {"vit_huge_patch", kClip, 1280, 32, 16},
                           {"vit_giant_patch", kClip, 1408, 40, 16, 0, 48.0 / 11},
                           {"vit_gigantic_patch", kClip, 1664, 48, 16, 0, 64.0 / 13},
                           {"beit_base_patch", kBeit, 768, 12, 12, 0.1},
                           {"beit_large_patch", kBeit, 1024, 24, 16, 1e-5},
                           {"beitv2_base_patch", kBeit, 768, 12, 12, 1e-5},
                           {"beitv2_large_patch", kBeit, 1024, 24, 16, 1e-5},
                           {"eva02_base_patch", kEva02, 768, 12, 12, 0, kGated},
                           {"eva02_large_patch", kEva02, 1024, 24, 16, 0, kGated}};
using Pool = VitShape::Pool;
constexpr std::pair<const char*, Pool> kPools[] = {{"token", Pool::class_token},
                                                   {"avg", Pool::mean},
                                                   {"block-tokens", Pool::block_tokens},
                                                   {"block-quarters", Pool::block_quarters}};
constexpr double kBeitLayerScale = 0.1;
constexpr std::int64_t kMostLength = 65536;
constexpr std::int64_t kMostBlocks = 1000;

const char* model_of(VitShape::Family family) {
  switch (family) {
    case kBeit:
      return "beit";
    case kClip:
      return "clip";
    case kEva02:
      return "eva02";
    case kVit:
      break;
  }
  return "vit";
}

const char* names_of(VitShape::Family family) {
  switch (family) {
    case kBeit:
      return "{beit|beitv2}_{base|large}_patch{P}_{image}";
    case kClip:
      return "vit_{base|large|huge|giant|gigantic}_patch{P}_clip_{image}, with clip_quickgelu for OpenAI's "
             "activation";
    case kEva02:
      return "eva02_{base|large}_patch{P}_{image}";
    case kVit:
      break;
  }
  return "vit_{tiny|small|base|large}_patch{P}_{image}";
}

ConfigKeys arguments_of(VitShape::Family family) {
  switch (family) {
    case kBeit:
      return ConfigKeys::beit_arguments;
    case kClip:
      return ConfigKeys::clip_arguments;
    case kEva02:
      return ConfigKeys::eva02_arguments;
    case kVit:
      break;
  }
  return ConfigKeys::vit_arguments;
}

bool takes(std::string_view& text, std::string_view begin) {
  if (!text.starts_with(begin)) return false;
  text.remove_prefix(begin.size());
  return true;
}

bool takes_number(std::string_view& text, std::int64_t& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return true;
}

// What an architecture's name says; a family of its own.
std::optional<VitShape> read_name(const std::string& name) {
  const auto digits = name.find("_patch");
  if (digits == std::string::npos) return {};
  const auto prefix = name.substr(0, digits + 6);
  auto rest = std::string_view(name).substr(prefix.size());
  std::int64_t patch = 0, image = 0;
  if (!takes_number(rest, patch) || !takes(rest, "_")) return {};
  const bool clip = takes(rest, "clip_");
  const bool quick = clip && takes(rest, "quickgelu_");
  if (!takes_number(rest, image) || (!rest.empty() && rest.front() != '.')) return {};
  for (const auto& size : kSizes) {
    if (prefix != size.prefix || clip != (size.family == kClip)) continue;
    auto shape = VitShape::of(size.family);
    shape.patch = patch;
    shape.image = image;
    shape.quick_gelu = quick;
    shape.width = size.width;
    shape.depth = size.depth;
    shape.heads = size.heads;
    shape.layer_scale = size.layer_scale;
    shape.mlp_ratio = size.mlp_ratio;
    return shape;
  }
  return {};
}

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

const char* VitShape::model() const { return model_of(family); }

std::int64_t VitShape::features() const {
  if (!joins_blocks()) return width;
  return depth * width * (pool == Pool::block_quarters ? kQuarters : 1);
}

const char* VitShape::pool_name() const {
  for (const auto& [name, value] : kPools) {
    if (value == pool) return name;
  }
  return kPools[0].first;
}

bool VitShape::set_pool(const std::string& name) {
  for (const auto& [known, value] : kPools) {
    if (name != known && !(value == Pool::mean && name == "mean")) continue;
    pool = value;
    return true;
  }
  return false;
}

VitShape VitShape::of(Family family) {
  VitShape shape;
  shape.family = family;
  if (family == Family::eva02) {
    shape.pool = Pool::mean;
    shape.mlp_ratio = kGated;
  }
  if (family != Family::beit) return shape;
  shape.pool = Pool::mean;
  shape.positions = false;
  shape.relative_bias = true;
  shape.layer_scale = kBeitLayerScale;
  return shape;
}

Result<VitShape> VitShape::named(const std::string& name, const std::string& where, Family family) {
  const auto shape = read_name(name);
  if (!shape) {
    return error(where + ": architecture '" + name + "' is not known. Sizes: " + names_of(family) + ".");
  }
  if (shape->family == family) return *shape;
  return error(
      fmt::format("{}: architecture '{}' is one of the model {}, not of {}. Use '{}' as the model "
                  "or network.",
                  where, name, shape->model(), model_of(family), shape->model()));
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
  if (pool == Pool::block_quarters && patches() < kQuarters) {
    return bad("the image has fewer than four patches, of which block-quarters are made");
  }
  if (is_eva02() && width / heads % 4 != 0) {
    return bad("each head's width must be a multiple of 4, for rotations by row and column");
  }
  if (!(layer_scale >= 0)) return bad("init_values must be null or a positive number");
  return {};
}

Result<VitShape> VitShape::from_json(const json::object& config, const std::string& where, Family family) {
  const auto architecture = timm_architecture(config);
  if (architecture.empty()) {
    return error(where +
                 ": 'architecture' is missing, by which timm names a network. Of networks of images timm's "
                 "folders are read (timm.models.save_for_hf), not those of transformers.");
  }
  auto shape = named(architecture, where, family);
  if (!shape && !read_name(architecture)) {
    return error(
        shape.error().message +
        " A network of other sizes takes one of these names, and says its own in 'model_args': img_size, "
        "patch_size, embed_dim, depth, num_heads (harness/models/README.md).");
  }
  if (!shape) return shape;
  if (auto known = check_keys(ConfigKeys::timm, config, where); !known) return known.error();
  const auto args = timm_arguments(config);
  const auto inside = where + ": model_args";
  if (auto known = check_keys(arguments_of(family), args, inside); !known) return known.error();
  const auto image = square_side(args, "img_size", shape->image, inside);
  if (!image) return image.error();
  const auto patch = square_side(args, "patch_size", shape->patch, inside);
  if (!patch) return patch.error();
  shape->image = *image;
  shape->patch = *patch;
  shape->width = int_or(args, "embed_dim", shape->width);
  shape->depth = int_or(args, "depth", shape->depth);
  shape->heads = int_or(args, "num_heads", shape->heads);
  shape->mlp_ratio = double_or(args, "mlp_ratio", shape->mlp_ratio);
  shape->channels = int_or(args, "in_chans", shape->channels);
  shape->qkv_bias = bool_or(args, "qkv_bias", shape->qkv_bias);
  shape->positions = bool_or(args, "use_abs_pos_emb", shape->positions);
  shape->relative_bias = bool_or(args, "use_rel_pos_bias", shape->relative_bias);
  if (shape->is_clip()) {
    const auto activation = string_or(args, "act_layer", shape->quick_gelu ? "quick_gelu" : "gelu");
    shape->quick_gelu = activation == "quick_gelu";
  }
  if (const auto* scale = args.if_contains("init_values")) {
    shape->layer_scale = scale->is_null() ? 0 : double_or(args, "init_values", shape->layer_scale);
  }
  // timm's networks without a head have 0 classes.
  const auto classes = int_or(args, "num_classes", int_or(config, "num_classes", 0));
  if (classes != 0) shape->classes = classes;
  const auto pool = string_or(args, "global_pool", string_or(config, "global_pool", shape->pool_name()));
  if (!shape->set_pool(pool)) return error(where + ": global_pool '" + pool + "' is not token or avg");
  if (auto checked = shape->check(where); !checked) return checked.error();
  return shape;
}

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
