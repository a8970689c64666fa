#include "harness/models/networks/gpt2.h"

#include <cmath>

#include "harness/models/files/config_keys.h"
#include "harness/models/networks/options.h"
#include "harness/models/networks/requests.h"

namespace hyfreedp::models {
namespace {

constexpr const char* kModel = "gpt2";
constexpr double kDeviation = 0.02;

struct Gpt2Parts {
  const Gpt2Shape& shape;
  graph::Builder& net;

  int norm(const std::string& name, int from) {
    return net.add(name, graph::LayerNorm{shape.width, shape.eps}, {from});
  }
  int linear(const std::string& name, std::int64_t inputs, std::int64_t outputs, int from) {
    return linear(name, inputs, outputs, kDeviation, from);
  }
  // A projection into the residual stream.
  int residual(const std::string& name, std::int64_t inputs, int from) {
    const double blocks = 2.0 * static_cast<double>(shape.depth);
    return linear(name, inputs, shape.width, kDeviation / std::sqrt(blocks), from);
  }
  int attention(const std::string& name, int from) {
    const AttentionShape heads{.heads = shape.heads,
                               .kv_heads = shape.heads,
                               .head_width = shape.width / shape.heads,
                               .causal = true,
                               .masked = shape.masked};
    std::vector<int> inputs{linear(name + ".c_attn", shape.width, 3 * shape.width, from)};
    if (shape.masked) inputs.push_back(graph::kMask);
    return residual(name + ".c_proj", shape.width, net.add(name, graph::Attention{heads}, inputs));
  }
  int block(const std::string& name, int x) {
    net.block(name);
    const int attended = attention(name + ".attn", norm(name + ".ln_1", x));
    x = net.add(name + ".add1", graph::Add{}, {x, attended});
    int wide = linear(name + ".mlp.c_fc", shape.width, shape.hidden, norm(name + ".ln_2", x));
    wide = net.add(name + ".mlp.act", graph::Activation{graph::Activation::Kind::gelu_by_tanh}, {wide});
    return net.add(name + ".add2", graph::Add{}, {x, residual(name + ".mlp.c_proj", shape.hidden, wide)});
  }

  int linear(const std::string& name, std::int64_t inputs, std::int64_t outputs, double deviation, int from) {
    const graph::Linear layer{.inputs = inputs,
                              .outputs = outputs,
                              .transposed = true,
                              .weight = {Initial::Kind::normal, deviation}};
    return net.linear(name, layer, from);
  }
};

Keys of_config() {
  return keys::joined(
      {keys::of_transformers(),
       keys::used(Holds::whole, "vocab_size n_positions n_embd n_layer n_head n_inner"),
       keys::used(Holds::number, "layer_norm_epsilon"), keys::used(Holds::flag, "tie_word_embeddings"),
       keys::only(R"(["gpt2"])", "model_type"),
       keys::only(R"(["GPT2LMHeadModel", "GPT2Model"])", "architectures"),
       keys::only(R"([null, "gelu_new"])", "activation_function"),
       keys::only("[null, true]", "scale_attn_weights"),
       keys::only("[null, false]", "scale_attn_by_inverse_layer_idx"),
       keys::harmless(
           "n_ctx reorder_and_upcast_attn resid_pdrop embd_pdrop attn_pdrop output_past summary_type "
           "summary_use_proj summary_activation summary_proj_to_labels summary_first_dropout")});
}

Result<Description> describe(const Request& request) {
  return describe_by_blocks<Gpt2Shape>(request, "transformer.");
}

}  // namespace

Result<Gpt2Shape> Gpt2Shape::named(const std::string& name, const std::string& where) {
  static constexpr NamedSize kSizes[] = {{"gpt2", 768, 12, 12},
                                         {"gpt2-medium", 1024, 24, 16},
                                         {"gpt2-large", 1280, 36, 20},
                                         {"gpt2-xl", 1600, 48, 25},
                                         {"distilgpt2", 768, 6, 12}};
  return shape_named<Gpt2Shape>(kSizes, name, where);
}

Result<Gpt2Shape> Gpt2Shape::from_json(const json::object& config, const std::string& where) {
  if (auto known = check_keys(keys_of_model(kModel, of_config()), config, where); !known)
    return known.error();
  Gpt2Shape shape;
  const auto read = read_sizes(config, where,
                               {{"vocab_size", &shape.vocabulary},
                                {"n_positions", &shape.positions},
                                {"n_embd", &shape.width},
                                {"n_layer", &shape.depth},
                                {"n_head", &shape.heads}});
  if (!read) return read.error();
  if (shape.width % shape.heads != 0) return error(where + ": 'n_embd' is not a multiple of 'n_head'");
  const auto* inner = config.if_contains("n_inner");
  shape.hidden = inner != nullptr && !inner->is_null() ? int_or(config, "n_inner", 0) : 4 * shape.width;
  if (shape.hidden < 1) return error(where + ": 'n_inner' must be at least 1");
  shape.eps = double_or(config, "layer_norm_epsilon", shape.eps);
  shape.tied = bool_or(config, "tie_word_embeddings", true);
  return shape;
}

Result<graph::Graph> graph_of(const Gpt2Shape& shape, const std::optional<Lora>& lora) {
  graph::Builder net(lora);
  Gpt2Parts parts{shape, net};
  const auto d = shape.width;
  const Initial normal{Initial::Kind::normal, kDeviation};
  const int table = net.add("transformer.wte", graph::Embedding{shape.vocabulary, d, normal});
  int x = net.add("transformer.wpe", graph::Positions{"weight", {shape.positions, d}, normal});
  for (std::int64_t i = 0; i < shape.depth; ++i) x = parts.block("transformer.h." + std::to_string(i), x);
  x = parts.norm("transformer.ln_f", x);
  if (shape.tied) {
    net.again(table, x);
  } else {
    net.linear("lm_head", {d, shape.vocabulary, false, false, normal}, x);
    net.head("lm_head");
  }
  return net.finish();
}

json::object model_config(const Gpt2Shape& shape) {
  return {{"model_type", "gpt2"},
          {"architectures", json::array{"GPT2LMHeadModel"}},
          {"vocab_size", shape.vocabulary},
          {"n_positions", shape.positions},
          {"n_embd", shape.width},
          {"n_layer", shape.depth},
          {"n_head", shape.heads},
          {"n_inner", shape.hidden},
          {"activation_function", "gelu_new"},
          {"layer_norm_epsilon", shape.eps},
          {"resid_pdrop", 0.0},
          {"embd_pdrop", 0.0},
          {"attn_pdrop", 0.0},
          {"tie_word_embeddings", shape.tied}};
}

Facts gpt2_facts() {
  const std::string targets = "attn.c_attn";
  return {.name = kModel,
          .title = "GPT-2",
          .source = "Radford et al., 2019; names and weights of Hugging Face",
          .reads = Reads::sequences,
          .options = with_blocks("gpt2, gpt2-medium, gpt2-large, gpt2-xl or distilgpt2", targets),
          .microbatch = 16,
          .example = {.dataset = "synthetic-tokens",
                      .dataset_options = small_tokens(),
                      .options = {{"width", 8}, {"heads", 2}}},
          .adapter_targets = targets,
          .describe = describe};
}

}  // namespace hyfreedp::models
