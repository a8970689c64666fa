#include "harness/models/facts/parameter_lists.h"

#include <cmath>
#include <fmt/format.h>

#include "harness/base/text.h"

namespace hyfreedp::models {
namespace {

using Kind = Initial::Kind;
constexpr double kTransformerSd = 0.02;
constexpr double kBeitHeadScale = 1e-3;
constexpr double kConvnextLayerScale = 1e-6;

Initial he(std::int64_t values_read) {
  return {Kind::normal, std::sqrt(2.0 / static_cast<double>(values_read))};
}
Initial uniform(std::int64_t values_read) {
  return {Kind::uniform, 1.0 / std::sqrt(static_cast<double>(values_read))};
}

class List {
 public:
  explicit List(Blueprint& blueprint) : blueprint_(blueprint) {}

  void add(std::string name, std::vector<std::int64_t> shape, Initial initial, std::int64_t places = 1) {
    blueprint_.parameters.push_back({std::move(name), std::move(shape), initial, places});
  }
  struct LinearSize {
    std::int64_t inputs = 0;
    std::int64_t outputs = 0;
    bool with_bias = true;
    bool transposed = false;
    std::int64_t places = 1;
  };
  void linear(const std::string& name, const LinearSize& size, Initial initial) {
    using Shape = std::vector<std::int64_t>;
    add(name + ".weight",
        size.transposed ? Shape{size.inputs, size.outputs} : Shape{size.outputs, size.inputs}, initial,
        size.places);
    if (size.with_bias) add(name + ".bias", {size.outputs}, {}, size.places);
    if (!blueprint_.lora || !blueprint_.lora->adapts(name)) return;
    adapted_ = true;
    const auto rank = blueprint_.lora->rank;
    add(adapter_prefix(name) + ".lora_A.weight", {rank, size.inputs}, uniform(size.inputs), size.places);
    add(adapter_prefix(name) + ".lora_B.weight", {size.outputs, rank}, {}, size.places);
  }
  // `side`: of what comes out, in pixels.
  void convolution(const std::string& name, std::vector<std::int64_t> shape, bool with_bias, Initial initial,
                   std::int64_t side) {
    const auto outputs = shape.front();
    add(name + ".weight", std::move(shape), initial, side * side);
    if (with_bias) add(name + ".bias", {outputs}, {}, side * side);
  }
  void norm(const std::string& name, std::int64_t width, bool with_bias = true) {
    add(name + ".weight", {width}, {Kind::constant, 1});
    if (with_bias) add(name + ".bias", {width}, {});
  }
  void block(const std::string& name) { blueprint_.blocks.push_back(name + "."); }
  void head(const std::string& name) { blueprint_.head = name + "."; }

  Result<void> finish() const {
    if (!blueprint_.lora || adapted_) return {};
    return error(fmt::format("model: no linear layer is called {}, so the adapter has nothing to adapt.",
                             join(blueprint_.lora->targets, " or ")));
  }

 private:
  Blueprint& blueprint_;
  bool adapted_ = false;
};

void list(const MlpShape& shape, List& list) {
  auto width = shape.features;
  const auto layers = shape.hidden.size() + 1;
  for (std::size_t i = 0; i < layers; ++i) {
    const auto name = layers == 1 ? std::string("fc") : fmt::format("fc{}", i + 1);
    const bool last = i + 1 == layers;
    const auto next = last ? shape.classes : shape.hidden[i];
    if (last) {
      list.head(name);
    } else {
      list.block(name);
    }
    list.linear(name, {width, next, !last || shape.bias}, last ? Initial{} : he(width));
    width = next;
  }
}

void list(const CnnShape& shape, List& list) {
  for (const char* name : {"conv1", "conv2", "fc1"}) list.block(name);
  list.head("fc2");
  const auto side1 = shape.side / 2;           // (side + 6 - 8) / 2 + 1
  const auto side2 = (side1 - 1 - 4) / 2 + 1;  // after a pool that takes 1 off
  list.convolution("conv1", {shape.filters1, shape.channels, 8, 8}, true, he(shape.channels * 64), side1);
  list.convolution("conv2", {shape.filters2, shape.filters1, 4, 4}, true, he(shape.filters1 * 16), side2);
  list.linear("fc1", {shape.flat, shape.hidden}, he(shape.flat));
  list.linear("fc2", {shape.hidden, shape.classes}, {});
}

// `side`: of what comes out.
void residual_block(const std::string& name, std::int64_t inputs, std::int64_t outputs, bool halves,
                    bool wide, std::int64_t side, List& list) {
  const bool reshapes = halves || inputs != outputs;
  const auto conv = [&](const char* which, std::int64_t from, std::int64_t kernel) {
    list.convolution(name + which, {outputs, from, kernel, kernel}, false, he(from * kernel * kernel), side);
  };
  list.block(name);
  if (wide) {
    list.norm(name + ".norm1", inputs);
    conv(".conv1", inputs, 3);
    list.norm(name + ".norm2", outputs);
    conv(".conv2", outputs, 3);
    if (reshapes) conv(".shortcut", inputs, 1);
    return;
  }
  conv(".conv1", inputs, 3);
  list.norm(name + ".norm1", outputs);
  conv(".conv2", outputs, 3);
  list.norm(name + ".norm2", outputs);
  if (!reshapes) return;
  conv(".shortcut", inputs, 1);
  list.norm(name + ".shortcut_norm", outputs);
}

void list(const ResnetShape& shape, List& list) {
  list.convolution("conv1", {shape.stem, shape.channels, 3, 3}, false, he(shape.channels * 9), shape.side);
  if (!shape.wide) list.norm("norm1", shape.stem);
  auto width = shape.stem;
  auto side = shape.side;
  for (std::size_t stage = 0; stage < shape.widths.size(); ++stage) {
    for (std::int64_t i = 0; i < shape.blocks; ++i) {
      const bool halves = stage > 0 && i == 0;
      if (halves) side = (side + 1) / 2;
      residual_block(fmt::format("stage{}.{}", stage + 1, i), width, shape.widths[stage], halves, shape.wide,
                     side, list);
      width = shape.widths[stage];
    }
  }
  if (shape.wide) list.norm("norm", width);
  list.linear("fc", {width, shape.classes}, {});
  list.head("fc");
}

void list(const EfficientNetLiteShape& shape, List& list) {
  std::int64_t side = 0;  // of what comes out
  const auto conv = [&](const std::string& name, std::int64_t outputs, std::int64_t inputs,
                        std::int64_t kernel) {
    list.convolution(name, {outputs, inputs, kernel, kernel}, true, he(inputs * kernel * kernel), side);
  };
  side = (shape.side + EfficientNetLiteShape::kStemStride - 1) / EfficientNetLiteShape::kStemStride;
  conv("conv_stem", shape.stem, EfficientNetLiteShape::kChannels, EfficientNetLiteShape::kStemKernel);
  for (const auto& block : shape.list_blocks()) {
    list.block(block.name);
    side = block.side;
    if (block.widens()) conv(block.expand(), block.hidden, block.inputs, 1);
    side = (block.side + block.stride - 1) / block.stride;
    conv(block.depthwise(), block.hidden, 1, block.kernel);
    conv(block.project(), block.outputs, block.hidden, 1);
  }
  conv("conv_head", shape.top, shape.widths.back(), 1);
  list.linear("classifier", {shape.top, shape.classes}, {});
  list.head("classifier");
}

void list(const SqueezeNetShape& shape, List& list) {
  const auto conv = [&](const std::string& name, std::int64_t outputs, std::int64_t inputs,
                        std::int64_t kernel, std::int64_t side) {
    list.convolution(name, {outputs, inputs, kernel, kernel}, true, he(inputs * kernel * kernel), side);
  };
  conv("features.0", shape.stem, SqueezeNetShape::kChannels, SqueezeNetShape::kStemKernel, shape.stem_side());
  std::int64_t side = 0;
  for (const auto& module : shape.list_modules()) {
    list.block(module.name);
    side = module.side;
    conv(module.squeezing(), module.squeeze, module.inputs, 1, side);
    conv(module.small(), module.branch, module.squeeze, 1, side);
    conv(module.large(), module.branch, module.squeeze, 3, side);
  }
  const std::string head = "classifier.1";
  if (shape.head == SqueezeNetShape::Head::convolution) {
    list.convolution(head, {shape.classes, shape.features(), 1, 1}, true, {}, side);
  } else {
    list.linear(head, {shape.features(), shape.classes}, {});
  }
  list.head(head);
}

void list(const ResnetImagenetShape& shape, List& list) {
  const auto blocks = shape.list_blocks();
  const auto conv = [&](const ResnetImagenetShape::Convolution& one, double scale = 1) {
    auto initial = he(one.inputs * one.kernel * one.kernel);
    initial.scale *= scale;
    list.convolution(one.name, {one.outputs, one.inputs, one.kernel, one.kernel}, true, initial,
                     one.side_after());
  };
  conv(shape.stem_convolution());
  for (const auto& block : blocks) {
    list.block(block.name);
    for (const auto& one : block.convolutions) {
      const bool last = &one == &block.convolutions.back();
      conv(one, last ? 1 / std::sqrt(static_cast<double>(blocks.size())) : 1);
    }
    if (block.shortcut) conv(*block.shortcut);
  }
  list.linear("fc", {shape.features(), shape.classes}, {});
  list.head("fc");
}

void list(const ConvnextShape& shape, List& list) {
  using Shape = ConvnextShape;
  const Initial truncated{Kind::truncated, kTransformerSd};
  const auto conv = [&](const std::string& name, std::int64_t outputs, std::int64_t inputs,
                        std::int64_t kernel, std::int64_t side) {
    list.convolution(name, {outputs, inputs, kernel, kernel}, true, truncated, side);
  };
  conv("stem.0", shape.widths[0], Shape::kChannels, Shape::kStemKernel, shape.stage_side(0));
  list.norm("stem.1", shape.widths[0]);
  for (std::size_t s = 0; s < Shape::kStages; ++s) {
    const auto stage = fmt::format("stages.{}", s);
    const auto width = shape.widths[s], side = shape.stage_side(s);
    if (s > 0) {
      list.norm(stage + ".downsample.0", shape.widths[s - 1]);
      conv(stage + ".downsample.1", width, shape.widths[s - 1], Shape::kDownsampleKernel, side);
    }
    const auto hidden = Shape::kWidening * width, places = side * side;
    for (std::int64_t b = 0; b < shape.blocks[s]; ++b) {
      const auto block = fmt::format("{}.blocks.{}", stage, b);
      list.block(block);
      conv(block + ".conv_dw", width, 1, Shape::kBlockKernel, side);
      list.norm(block + ".norm", width);
      list.linear(block + ".mlp.fc1", {.inputs = width, .outputs = hidden, .places = places}, truncated);
      list.linear(block + ".mlp.fc2", {.inputs = hidden, .outputs = width, .places = places}, truncated);
      list.add(block + ".gamma", {width}, {Kind::constant, kConvnextLayerScale});
    }
  }
  list.norm("head.norm", shape.features());
  list.linear("head.fc", {shape.features(), shape.classes}, truncated);
  list.head("head.fc");
}

// Of attention: what reads the norm, without the projection of what comes out.
void list_attention(const VitShape& shape, const std::string& name, const Initial& initial, List& list) {
  const auto d = shape.width;
  const bool apart = shape.is_beit();  // biases of queries and values beside one projection
  if (shape.is_eva02()) {
    list.linear(name + ".q_proj", {d, d, shape.qkv_bias}, initial);
    list.linear(name + ".k_proj", {d, d, false}, initial);
    list.linear(name + ".v_proj", {d, d, shape.qkv_bias}, initial);
    return;
  }
  list.linear(name + ".qkv", {d, 3 * d, shape.qkv_bias && !apart}, initial);
  if (shape.qkv_bias && apart) {
    for (const char* bias : {".q_bias", ".v_bias"}) list.add(name + bias, {d}, {});
  }
  if (shape.relative_bias) {
    list.add(name + ".relative_position_bias_table", {shape.distances(), shape.heads}, {});
  }
}

void list(const VitShape& shape, List& list) {
  const auto d = shape.width;
  const auto hidden = shape.hidden();
  const Initial truncated{Kind::truncated, kTransformerSd};
  const auto read = shape.channels * shape.patch * shape.patch;
  list.add("patch_embed.proj.weight", {d, shape.channels, shape.patch, shape.patch}, uniform(read));
  if (!shape.is_clip()) list.add("patch_embed.proj.bias", {d}, uniform(read));
  // As timm's BEiT and EVA-02, which are of the same authors, begin.
  const bool beit = shape.is_beit() || shape.is_eva02();
  list.add("cls_token", {1, 1, d}, beit ? truncated : Initial{Kind::normal, 1e-6});
  if (shape.positions) list.add("pos_embed", {1, shape.patches() + 1, d}, truncated);
  if (shape.is_clip()) list.norm("norm_pre", d);
  for (std::int64_t i = 0; i < shape.depth; ++i) {
    const auto block = fmt::format("blocks.{}", i);
    const auto into_stream =
        beit ? Initial{Kind::truncated, kTransformerSd / std::sqrt(2.0 * static_cast<double>(i + 1))}
             : truncated;
    list.block(block);
    list.norm(block + ".norm1", d);
    list_attention(shape, block + ".attn", truncated, list);
    list.linear(block + ".attn.proj", {d, d}, into_stream);
    if (shape.layer_scale > 0) list.add(block + ".gamma_1", {d}, {Kind::constant, shape.layer_scale});
    list.norm(block + ".norm2", d);
    if (shape.is_eva02()) {
      list.linear(block + ".mlp.fc1_g", {d, hidden}, truncated);
      list.linear(block + ".mlp.fc1_x", {d, hidden}, truncated);
      list.norm(block + ".mlp.norm", hidden);
    } else {
      list.linear(block + ".mlp.fc1", {d, hidden}, truncated);
    }
    list.linear(block + ".mlp.fc2", {hidden, d}, into_stream);
    if (shape.layer_scale > 0) list.add(block + ".gamma_2", {d}, {Kind::constant, shape.layer_scale});
  }
  if (!shape.joins_blocks()) list.norm(shape.pool == VitShape::Pool::class_token ? "norm" : "fc_norm", d);
  list.linear("head", {shape.features(), shape.classes},
              beit ? Initial{Kind::truncated, kTransformerSd * kBeitHeadScale} : truncated);
  list.head("head");
}

void list(const Gpt2Shape& shape, List& list) {
  const auto d = shape.width;
  const Initial normal{Kind::normal, kTransformerSd};
  const Initial residual{Kind::normal, kTransformerSd / std::sqrt(2.0 * static_cast<double>(shape.depth))};
  list.add("transformer.wte.weight", {shape.vocabulary, d}, normal);
  list.add("transformer.wpe.weight", {shape.positions, d}, normal);
  for (std::int64_t i = 0; i < shape.depth; ++i) {
    const auto block = fmt::format("transformer.h.{}", i);
    list.block(block);
    list.norm(block + ".ln_1", d);
    list.linear(block + ".attn.c_attn", {d, 3 * d, true, true}, normal);
    list.linear(block + ".attn.c_proj", {d, d, true, true}, residual);
    list.norm(block + ".ln_2", d);
    list.linear(block + ".mlp.c_fc", {d, shape.hidden, true, true}, normal);
    list.linear(block + ".mlp.c_proj", {shape.hidden, d, true, true}, residual);
  }
  list.norm("transformer.ln_f", d);
  if (shape.tied) return;
  list.linear("lm_head", {d, shape.vocabulary, false}, normal);
  list.head("lm_head");
}

void list(const LlamaShape& shape, List& list) {
  const auto d = shape.width;
  const auto queries = shape.heads * shape.head_width;
  const auto keys = shape.kv_heads * shape.head_width;
  const Initial normal{Kind::normal, kTransformerSd};
  list.add("model.embed_tokens.weight", {shape.vocabulary, d}, normal);
  for (std::int64_t i = 0; i < shape.depth; ++i) {
    const auto block = fmt::format("model.layers.{}", i);
    list.block(block);
    list.norm(block + ".input_layernorm", d, false);
    list.linear(block + ".self_attn.q_proj", {d, queries, shape.attention_bias}, normal);
    list.linear(block + ".self_attn.k_proj", {d, keys, shape.attention_bias}, normal);
    list.linear(block + ".self_attn.v_proj", {d, keys, shape.attention_bias}, normal);
    list.linear(block + ".self_attn.o_proj", {queries, d, shape.attention_bias}, normal);
    list.norm(block + ".post_attention_layernorm", d, false);
    list.linear(block + ".mlp.gate_proj", {d, shape.hidden, shape.mlp_bias}, normal);
    list.linear(block + ".mlp.up_proj", {d, shape.hidden, shape.mlp_bias}, normal);
    list.linear(block + ".mlp.down_proj", {shape.hidden, d, shape.mlp_bias}, normal);
  }
  list.norm("model.norm", d, false);
  if (shape.tied) return;
  list.linear("lm_head", {d, shape.vocabulary, false}, normal);
  list.head("lm_head");
}

}  // namespace

Result<void> list_parameters(Blueprint& blueprint) {
  blueprint.parameters.clear();
  blueprint.blocks.clear();
  blueprint.head.clear();
  List names(blueprint);
  std::visit([&](const auto& shape) { list(shape, names); }, blueprint.shape);
  return names.finish();
}

}  // namespace hyfreedp::models
