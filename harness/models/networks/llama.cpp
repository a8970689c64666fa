#include "harness/models/networks/llama.h"

#include <cmath>
#include <fmt/format.h>
#include <numbers>

#include "harness/models/files/config_keys.h"
#include "harness/models/networks/options.h"
#include "harness/models/networks/requests.h"

namespace hyfreedp::models {
namespace {

constexpr const char* kModel = "llama";

// The keys of rope_scaling or rope_parameters.
Keys of_rotary() {
  return keys::joined(
      {keys::used(Holds::text, "rope_type type"),
       keys::used(Holds::number,
                  "rope_theta factor low_freq_factor high_freq_factor original_max_position_embeddings"),
       keys::only("[null, 1]", "partial_rotary_factor attention_factor")});
}

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
  const auto known = keys_of_model(kModel, of_rotary());
  if (auto checked = check_keys(known, *rope, where + ": '" + key + "'"); !checked) return checked.error();
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

struct LlamaParts {
  const LlamaShape& shape;
  graph::Builder& net;

  int norm(const std::string& name, int from) {
    return net.add(name, graph::RmsNorm{shape.width, shape.eps}, {from});
  }
  int attention(const std::string& name, int from) {
    const auto d = shape.width;
    const auto queries = shape.heads * shape.head_width, keys = shape.kv_heads * shape.head_width;
    const auto linear = [&](const char* part, std::int64_t inputs, std::int64_t outputs, int input) {
      return net.linear(name + part, {inputs, outputs, shape.attention_bias, false, kNormal}, input);
    };
    const int q = linear(".q_proj", d, queries, from);
    const int k = linear(".k_proj", d, keys, from);
    const int v = linear(".v_proj", d, keys, from);
    std::vector<int> inputs{q, k, v};
    if (shape.masked) inputs.push_back(graph::kMask);
    const AttentionShape heads{.heads = shape.heads,
                               .kv_heads = shape.kv_heads,
                               .head_width = shape.head_width,
                               .packed = false,
                               .causal = true,
                               .masked = shape.masked,
                               .rotary = Rotary{shape.frequencies}};
    return linear(".o_proj", queries, d, net.add(name, graph::Attention{heads}, inputs));
  }
  int mlp(const std::string& name, int from) {
    const auto linear = [&](const char* part, std::int64_t inputs, std::int64_t outputs, int input) {
      return net.linear(name + part, {inputs, outputs, shape.mlp_bias, false, kNormal}, input);
    };
    const int gate = linear(".gate_proj", shape.width, shape.hidden, from);
    const int up = linear(".up_proj", shape.width, shape.hidden, from);
    const int gated =
        net.add(name + ".act", graph::Activation{graph::Activation::Kind::gated_silu}, {gate, up});
    return linear(".down_proj", shape.hidden, shape.width, gated);
  }
  int block(const std::string& name, int x) {
    net.block(name);
    const int attended = attention(name + ".self_attn", norm(name + ".input_layernorm", x));
    x = net.add(name + ".add1", graph::Add{}, {x, attended});
    const int narrow = mlp(name + ".mlp", norm(name + ".post_attention_layernorm", x));
    return net.add(name + ".add2", graph::Add{}, {x, narrow});
  }

 private:
};

Keys of_config() {
  return keys::joined(
      {keys::of_transformers(),
       keys::used(Holds::whole,
                  "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads "
                  "num_key_value_heads head_dim max_position_embeddings"),
       keys::used(Holds::number, "rms_norm_eps rope_theta"),
       keys::used(Holds::flag, "tie_word_embeddings attention_bias mlp_bias"),
       keys::used(Holds::object, "rope_scaling rope_parameters"), keys::only(R"(["llama"])", "model_type"),
       keys::only(R"(["LlamaForCausalLM", "LlamaModel"])", "architectures"),
       keys::only(R"([null, "silu"])", "hidden_act"),
       keys::only("[null, 1]", "partial_rotary_factor no_rope_layers"),
       keys::only("[null]", "sliding_window"), keys::only(R"([null, "full_attention"])", "layer_types"),
       keys::only("[null, false]", "use_sliding_window rope_interleaved use_qk_norm qk_norm"),
       keys::harmless("attention_dropout pretraining_tp max_sequence_length is_llama_config")});
}

struct LlamaOptions {
  BlockOptions blocks;
  std::optional<std::int64_t> kv_heads, hidden;
  static constexpr std::array kInlined = {"blocks"};
};
BOOST_DESCRIBE_STRUCT(LlamaOptions, (), (blocks, kv_heads, hidden))

// The network's sizes as a config.json, with the name of their source for messages.
Result<FolderConfig> config_of(const Request& request) {
  const auto own = read_options<LlamaOptions>(request.options);
  auto once = decided_once(request, {"size", "width", "depth", "heads", "kv_heads", "hidden"});
  if (!once) return once.error();
  if (given(request.options, "weights")) {
    auto folder = request.folder();
    if (!folder) return folder;
    // If the weights are not fetched yet, their size is known by its name alone.
    const auto known = string_or(folder->config, "architecture", "");
    if (known.empty()) return folder;
    auto named = LlamaShape::named_config(known, folder->where);
    if (!named) return named.error();
    return FolderConfig{std::move(*named), folder->where};
  }
  if (own.blocks.size) {
    auto named = LlamaShape::named_config(*own.blocks.size, request.where());
    if (!named) return named.error();
    return FolderConfig{std::move(*named), request.where()};
  }
  return FolderConfig{{{"vocab_size", request.input.vocabulary},
                       {"hidden_size", own.blocks.width},
                       {"intermediate_size", own.hidden.value_or(3 * own.blocks.width)},
                       {"num_hidden_layers", own.blocks.depth},
                       {"num_attention_heads", own.blocks.heads},
                       {"num_key_value_heads", own.kv_heads.value_or(own.blocks.heads)}},
                      request.where()};
}

Result<Description> describe(const Request& request) {
  if (auto sequence = need_sequence(request); !sequence) return sequence.error();
  const auto config = config_of(request);
  if (!config) return config.error();
  auto shape = LlamaShape::from_json(config->config, config->where);
  if (!shape) return shape.error();
  // Padding lies to the right of the tokens, where a causal network does not look.
  shape->masked = false;
  if (auto fits = fits_sequence(request, shape->vocabulary, request.input.length); !fits) return fits.error();
  return description_of(*shape);
}

}  // namespace

Result<json::object> LlamaShape::named_config(const std::string& name, const std::string& where) {
  if (name == "smollm2-135m") {
    return json::object{{"vocab_size", 49152},       {"hidden_size", 576},
                        {"intermediate_size", 1536}, {"num_hidden_layers", 30},
                        {"num_attention_heads", 9},  {"num_key_value_heads", 3},
                        {"rms_norm_eps", 1e-5},      {"tie_word_embeddings", true},
                        {"rope_theta", 100000.0},    {"max_position_embeddings", 8192}};
  }
  if (name == "llama2-7b") {
    return json::object{{"vocab_size", 32000},        {"hidden_size", 4096},
                        {"intermediate_size", 11008}, {"num_hidden_layers", 32},
                        {"num_attention_heads", 32},  {"num_key_value_heads", 32},
                        {"rms_norm_eps", 1e-5},       {"tie_word_embeddings", false},
                        {"rope_theta", 10000.0},      {"max_position_embeddings", 4096}};
  }
  const bool small = name == "llama-3.2-1b";
  if (!small && name != "llama-3.2-3b") {
    return error(
        fmt::format("{}: size '{}' is not known. Sizes: llama2-7b, llama-3.2-1b, llama-3.2-3b, smollm2-135m.",
                    where, name));
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
  if (auto known = check_keys(keys_of_model(kModel, of_config()), config, where); !known)
    return known.error();
  LlamaShape shape;
  const auto read = read_sizes(config, where,
                               {{"vocab_size", &shape.vocabulary},
                                {"hidden_size", &shape.width},
                                {"intermediate_size", &shape.hidden},
                                {"num_hidden_layers", &shape.depth},
                                {"num_attention_heads", &shape.heads}});
  if (!read) return read.error();
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
  LlamaParts parts{shape, net};
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

json::object model_config(const LlamaShape& shape) {
  return {{"model_type", "llama"},
          {"architectures", json::array{"LlamaForCausalLM"}},
          {"vocab_size", shape.vocabulary},
          {"hidden_size", shape.width},
          {"intermediate_size", shape.hidden},
          {"num_hidden_layers", shape.depth},
          {"num_attention_heads", shape.heads},
          {"num_key_value_heads", shape.kv_heads},
          {"head_dim", shape.head_width},
          {"hidden_act", "silu"},
          {"max_position_embeddings", shape.positions},
          {"rms_norm_eps", shape.eps},
          {"rope_theta", shape.rope_theta},
          {"rope_scaling", shape.rope_scaling.empty() ? json::value(nullptr) : shape.rope_scaling},
          {"attention_bias", shape.attention_bias},
          {"mlp_bias", shape.mlp_bias},
          {"tie_word_embeddings", shape.tied}};
}

Facts llama_facts() {
  const std::string targets = "self_attn.q_proj,self_attn.v_proj";
  auto sizes = block_table("llama2-7b, llama-3.2-1b, llama-3.2-3b or smollm2-135m", "query heads");
  sizes.push_back(count("kv_heads", 1024, "key and value heads (default: as the query heads)"));
  sizes.push_back(count("hidden", 1 << 20, "width of the gated layer (default: 3 times the width)"));
  return {.name = kModel,
          .title = "Llama",
          .source = "Touvron et al., arXiv:2302.13971; names and weights of Hugging Face",
          .reads = Reads::sequences,
          .options = with_adapters(may_be_absent(options_of<LlamaOptions>(std::move(sizes))), targets, false),
          .microbatch = 16,
          .example = {.dataset = "synthetic-tokens",
                      .dataset_options = small_tokens(),
                      .options = {{"width", 8}, {"heads", 2}, {"kv_heads", 1}}},
          .adapter_targets = targets,
          .describe = describe};
}

}  // namespace hyfreedp::models
