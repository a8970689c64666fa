#include "harness/models/networks/llama.h"

#include <cmath>
#include <fmt/format.h>
#include <numbers>

#include "harness/models/files/config_keys.h"

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

Result<void> set_rotary(const json::object& config, LlamaShape& shape, const std::string& where) {
  const auto object_at = [&](const char* key) -> const json::object* {
    const auto* value = config.if_contains(key);
    return value != nullptr ? value->if_object() : nullptr;
  };
  const char* key = object_at("rope_parameters") != nullptr ? "rope_parameters" : "rope_scaling";
  const auto* rope = object_at(key);
  const json::object none;
  if (rope == nullptr) rope = &none;
  if (auto known = check_keys(ConfigKeys::llama_rotary, *rope, where + ": '" + key + "'"); !known)
    return known.error();
  const double theta = double_or(*rope, "rope_theta", double_or(config, "rope_theta", 10000.0));
  const auto type = string_or(*rope, "rope_type", string_or(*rope, "type", "default"));
  if (!(theta > 1)) return error(where + ": 'rope_theta' must be above 1");
  std::vector<double> frequencies;
  const auto width = static_cast<double>(shape.head_width);
  for (std::int64_t j = 0; j < shape.head_width; j += 2) {
    frequencies.push_back(std::pow(theta, -static_cast<double>(j) / width));
  }
  shape.rope_theta = theta;
  if (type == "default") {
    shape.frequencies = std::move(frequencies);
    return {};
  }
  shape.rope_scaling = *rope;
  shape.rope_scaling["rope_type"] = type;
  for (const char* elsewhere : {"type", "rope_theta"}) shape.rope_scaling.erase(elsewhere);
  const auto factor = get_double(*rope, "factor", where);
  if (!factor) return factor.error();
  if (!(*factor >= 1)) return error(where + ": the rotary 'factor' must be at least 1");
  if (type == "linear") {
    for (auto& frequency : frequencies) frequency /= *factor;
    shape.frequencies = std::move(frequencies);
    return {};
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
  shape.frequencies = std::move(frequencies);
  return {};
}

constexpr Initial kNormal{Initial::Kind::normal, 0.02};

class LlamaParts {
 public:
  LlamaParts(const LlamaShape& shape, graph::Builder& net) : shape_(shape), net_(net) {}

  int norm(const std::string& name, int from) {
    return net_.add(name, graph::RmsNorm{shape_.width, shape_.eps}, {from});
  }
  int attention(const std::string& name, int from) {
    const auto d = shape_.width;
    const auto queries = shape_.heads * shape_.head_width, keys = shape_.kv_heads * shape_.head_width;
    const auto linear = [&](const char* part, std::int64_t inputs, std::int64_t outputs, int input) {
      return net_.linear(name + part, {inputs, outputs, shape_.attention_bias, false, kNormal}, input);
    };
    const int q = linear(".q_proj", d, queries, from);
    const int k = linear(".k_proj", d, keys, from);
    const int v = linear(".v_proj", d, keys, from);
    std::vector<int> inputs{q, k, v};
    if (shape_.masked) inputs.push_back(graph::kMask);
    const AttentionShape heads{.heads = shape_.heads,
                               .kv_heads = shape_.kv_heads,
                               .head_width = shape_.head_width,
                               .packed = false,
                               .causal = true,
                               .masked = shape_.masked,
                               .rotary = Rotary{shape_.frequencies}};
    return linear(".o_proj", queries, d, net_.add(name, graph::Attention{heads}, inputs));
  }
  int mlp(const std::string& name, int from) {
    const auto linear = [&](const char* part, std::int64_t inputs, std::int64_t outputs, int input) {
      return net_.linear(name + part, {inputs, outputs, shape_.mlp_bias, false, kNormal}, input);
    };
    const int gate = linear(".gate_proj", shape_.width, shape_.hidden, from);
    const int up = linear(".up_proj", shape_.width, shape_.hidden, from);
    const int gated =
        net_.add(name + ".act", graph::Activation{graph::Activation::Kind::gated_silu}, {gate, up});
    return linear(".down_proj", shape_.hidden, shape_.width, gated);
  }
  int block(const std::string& name, int x) {
    net_.block(name);
    const int attended = attention(name + ".self_attn", norm(name + ".input_layernorm", x));
    x = net_.add(name + ".add1", graph::Add{}, {x, attended});
    const int narrow = mlp(name + ".mlp", norm(name + ".post_attention_layernorm", x));
    return net_.add(name + ".add2", graph::Add{}, {x, narrow});
  }

 private:
  const LlamaShape& shape_;
  graph::Builder& net_;
};

}  // namespace

Result<json::object> LlamaShape::named_config(const std::string& name, const std::string& where) {
  const bool small = name == "llama-3.2-1b";
  if (!small && name != "llama-3.2-3b") {
    return error(fmt::format("{}: size '{}' is not known. Sizes: llama-3.2-1b, llama-3.2-3b.", where, name));
  }
  return json::object{{"vocab_size", 128256},
                      {"hidden_size", small ? 2048 : 3072},
                      {"intermediate_size", 8192},
                      {"num_hidden_layers", small ? 16 : 28},
                      {"num_attention_heads", small ? 32 : 24},
                      {"num_key_value_heads", 8},
                      {"head_dim", small ? 64 : 128},
                      {"rms_norm_eps", 1e-5},
                      {"tie_word_embeddings", true},
                      {"rope_theta", 500000.0},
                      {"rope_scaling", json::object{{"rope_type", "llama3"},
                                                    {"factor", 32.0},
                                                    {"low_freq_factor", 1.0},
                                                    {"high_freq_factor", 4.0},
                                                    {"original_max_position_embeddings", 8192}}}};
}

Result<LlamaShape> LlamaShape::from_json(const json::object& config, const std::string& where) {
  if (auto known = check_keys(ConfigKeys::llama, config, where); !known) return known.error();
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
    return error(where + ": 'num_attention_heads' is not a multiple of 'num_key_value_heads'");
  }
  const auto* given = config.if_contains("head_dim");
  shape.head_width =
      given != nullptr && !given->is_null() ? int_or(config, "head_dim", 0) : shape.width / shape.heads;
  if (shape.head_width < 2 || shape.head_width % 2 != 0) return error(where + ": 'head_dim' must be even");
  shape.eps = double_or(config, "rms_norm_eps", shape.eps);
  shape.tied = bool_or(config, "tie_word_embeddings", false);
  shape.attention_bias = bool_or(config, "attention_bias", false);
  shape.mlp_bias = bool_or(config, "mlp_bias", false);
  shape.positions = int_or(config, "max_position_embeddings", shape.positions);
  if (auto rotary = set_rotary(config, shape, where); !rotary) return rotary.error();
  return shape;
}

Result<graph::Graph> graph_of(const LlamaShape& shape, const std::optional<Lora>& lora) {
  graph::Builder net(lora);
  LlamaParts parts(shape, net);
  const int table = net.add("model.embed_tokens", graph::Embedding{shape.vocabulary, shape.width, kNormal});
  int x = table;
  for (std::int64_t i = 0; i < shape.depth; ++i) x = parts.block("model.layers." + std::to_string(i), x);
  x = parts.norm("model.norm", x);
  if (shape.tied) {
    net.again(table, x);
  } else {
    net.linear("lm_head", {shape.width, shape.vocabulary, false, false, kNormal}, x);
    net.head("lm_head");
  }
  return net.finish();
}

}  // namespace hyfreedp::models
