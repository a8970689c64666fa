#include "harness/models/llama.h"

#include <cmath>
#include <numbers>

#include "harness/models/activation.h"
#include "harness/models/attention.h"
#include "harness/models/embedding.h"
#include "harness/models/normalisation.h"
#include "harness/models/shape.h"

namespace hyfreedp::models {
namespace {

// Wavelengths up to original / high are kept, from original / low on divided by the factor.
double llama3_frequency(double frequency, double factor, double low, double high, double original) {
  const double wavelength = 2 * std::numbers::pi / frequency;
  if (wavelength < original / high) return frequency;
  if (wavelength > original / low) return frequency / factor;
  const double smooth = (original / wavelength - low) / (high - low);
  return (1 - smooth) * frequency / factor + smooth * frequency;
}

Result<std::vector<double>> rotary_frequencies(const json::object& config, std::int64_t head_width,
                                               const std::string& where) {
  const auto object_at = [&](const char* key) -> const json::object* {
    const auto* value = config.if_contains(key);
    return value != nullptr ? value->if_object() : nullptr;
  };
  const auto* rope = object_at("rope_parameters");
  if (rope == nullptr) rope = object_at("rope_scaling");
  const json::object none;
  if (rope == nullptr) rope = &none;
  const double theta = double_or(*rope, "rope_theta", double_or(config, "rope_theta", 10000.0));
  const auto type = string_or(*rope, "rope_type", string_or(*rope, "type", "default"));
  if (!(theta > 1)) return error(where + ": 'rope_theta' must be above 1");
  std::vector<double> frequencies;
  for (std::int64_t j = 0; j < head_width; j += 2) {
    frequencies.push_back(std::pow(theta, -static_cast<double>(j) / static_cast<double>(head_width)));
  }
  if (type == "default") return frequencies;
  const auto factor = get_double(*rope, "factor", where);
  if (!factor) return factor.error();
  if (!(*factor >= 1)) return error(where + ": the rotary 'factor' must be at least 1");
  if (type == "linear") {
    for (auto& frequency : frequencies) frequency /= *factor;
    return frequencies;
  }
  if (type != "llama3") {
    return error(where + ": rope_type '" + type + "' is not supported; default, linear and llama3 are");
  }
  const auto low = get_double(*rope, "low_freq_factor", where);
  const auto high = get_double(*rope, "high_freq_factor", where);
  const auto original = get_double(*rope, "original_max_position_embeddings", where);
  if (!low) return low.error();
  if (!high) return high.error();
  if (!original) return original.error();
  if (!(*low > 0 && *high > *low))
    return error(where + ": 'high_freq_factor' must be above 'low_freq_factor'");
  for (auto& frequency : frequencies)
    frequency = llama3_frequency(frequency, *factor, *low, *high, *original);
  return frequencies;
}

}  // namespace

Result<LlamaShape> LlamaShape::from_json(const json::object& config, const std::string& where) {
  LlamaShape shape;
  for (const auto& [key, target] :
       {std::pair{"vocab_size", &shape.vocabulary}, std::pair{"hidden_size", &shape.width},
        std::pair{"intermediate_size", &shape.hidden}, std::pair{"num_hidden_layers", &shape.depth},
        std::pair{"num_attention_heads", &shape.heads}}) {
    const auto value = get_int(config, key, where);
    if (!value) return value.error();
    if (*value < 1) return error(where + ": '" + key + "' must be at least 1");
    *target = *value;
  }
  shape.kv_heads = int_or(config, "num_key_value_heads", shape.heads);
  if (shape.kv_heads < 1 || shape.heads % shape.kv_heads != 0) {
    return error(where + ": 'num_attention_heads' is no multiple of 'num_key_value_heads'");
  }
  const auto* given = config.if_contains("head_dim");
  shape.head_width =
      given != nullptr && !given->is_null() ? int_or(config, "head_dim", 0) : shape.width / shape.heads;
  if (shape.head_width < 2 || shape.head_width % 2 != 0) return error(where + ": 'head_dim' must be even");
  shape.eps = double_or(config, "rms_norm_eps", shape.eps);
  shape.tied = bool_or(config, "tie_word_embeddings", false);
  shape.attention_bias = bool_or(config, "attention_bias", false);
  shape.mlp_bias = bool_or(config, "mlp_bias", false);
  if (const auto activation = string_or(config, "hidden_act", "silu"); activation != "silu") {
    return error(where + ": hidden_act '" + activation + "' is not supported; silu is");
  }
  auto frequencies = rotary_frequencies(config, shape.head_width, where);
  if (!frequencies) return frequencies.error();
  shape.frequencies = std::move(*frequencies);
  return shape;
}

Result<Network> make_llama(const LlamaShape& shape, const std::optional<Lora>& lora,
                           const torch::TensorOptions& options, const Network::Trainable& trainable) {
  Builder builder(lora);
  const auto d = shape.width;
  const auto table = std::make_shared<Embedding>(shape.vocabulary, d);
  int x = builder.add("model.embed_tokens", table);
  const auto queries = shape.heads * shape.head_width;
  const auto keys = shape.kv_heads * shape.head_width;
  for (std::int64_t i = 0; i < shape.depth; ++i) {
    const auto block = "model.layers." + std::to_string(i);
    const auto attention = block + ".self_attn";
    const int normed = builder.add(block + ".input_layernorm", std::make_shared<RmsNorm>(d, shape.eps), {x});
    const int q = builder.linear(attention + ".q_proj", {d, queries, shape.attention_bias}, normed);
    const int k = builder.linear(attention + ".k_proj", {d, keys, shape.attention_bias}, normed);
    const int v = builder.linear(attention + ".v_proj", {d, keys, shape.attention_bias}, normed);
    std::vector<int> inputs{q, k, v};
    if (shape.masked) inputs.push_back(Network::kMask);
    const AttentionShape heads{.heads = shape.heads,
                               .kv_heads = shape.kv_heads,
                               .head_width = shape.head_width,
                               .packed = false,
                               .causal = true,
                               .masked = shape.masked,
                               .rotary = Rotary{shape.frequencies}};
    const int attended = builder.add(attention, std::make_shared<Attention>(heads), inputs);
    const int projected = builder.linear(attention + ".o_proj", {queries, d, shape.attention_bias}, attended);
    x = builder.add(block + ".add1", std::make_shared<Add>(), {x, projected});
    const int second =
        builder.add(block + ".post_attention_layernorm", std::make_shared<RmsNorm>(d, shape.eps), {x});
    const int gate = builder.linear(block + ".mlp.gate_proj", {d, shape.hidden, shape.mlp_bias}, second);
    const int up = builder.linear(block + ".mlp.up_proj", {d, shape.hidden, shape.mlp_bias}, second);
    const int gated = builder.add(block + ".mlp.act", std::make_shared<GatedSilu>(), {gate, up});
    const int narrow = builder.linear(block + ".mlp.down_proj", {shape.hidden, d, shape.mlp_bias}, gated);
    x = builder.add(block + ".add2", std::make_shared<Add>(), {x, narrow});
  }
  const int normed = builder.add("model.norm", std::make_shared<RmsNorm>(d, shape.eps), {x});
  if (shape.tied) {
    builder.add("model.embed_tokens", table, {normed});
  } else {
    builder.linear("lm_head", {d, shape.vocabulary, false}, normed);
  }
  return builder.build(options, trainable);
}

}  // namespace hyfreedp::models
