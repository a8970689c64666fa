#include "harness/models/networks/opt.h"

#include "harness/models/files/config_keys.h"
#include "harness/models/networks/options.h"
#include "harness/models/networks/requests.h"

namespace hyfreedp::models {
namespace {

constexpr const char* kModel = "opt";
constexpr Initial kNormal{Initial::Kind::normal, 0.02};
constexpr std::int64_t kFirstPosition = 2;
constexpr double kEps = 1e-5;  // LayerNorm's default, which no config changes

struct OptParts {
  const OptShape& shape;
  graph::Builder& net;

  int norm(const std::string& name, int from) {
    return net.add(name, graph::LayerNorm{shape.width, kEps}, {from});
  }
  int linear(const std::string& name, std::int64_t inputs, std::int64_t outputs, int from) {
    return net.linear(name, {.inputs = inputs, .outputs = outputs, .weight = kNormal}, from);
  }
  int attention(const std::string& name, int from) {
    const AttentionShape heads{.heads = shape.heads,
                               .kv_heads = shape.heads,
                               .head_width = shape.width / shape.heads,
                               .packed = false,
                               .causal = true,
                               .masked = shape.masked};
    std::vector<int> inputs;
    for (const char* part : {".q_proj", ".k_proj", ".v_proj"})
      inputs.push_back(linear(name + part, shape.width, shape.width, from));
    if (shape.masked) inputs.push_back(graph::kMask);
    const int attended = net.add(name, graph::Attention{heads}, inputs);
    return linear(name + ".out_proj", shape.width, shape.width, attended);
  }
  int block(const std::string& name, int x) {
    net.block(name);
    const int attended = attention(name + ".self_attn", norm(name + ".self_attn_layer_norm", x));
    x = net.add(name + ".add1", graph::Add{}, {x, attended});
    int wide = linear(name + ".fc1", shape.width, shape.hidden, norm(name + ".final_layer_norm", x));
    wide = net.add(name + ".act", graph::Activation{graph::Activation::Kind::relu}, {wide});
    return net.add(name + ".add2", graph::Add{}, {x, linear(name + ".fc2", shape.hidden, shape.width, wide)});
  }
};

Keys of_config() {
  return keys::joined(
      {keys::of_transformers(),
       keys::used(Holds::whole,
                  "vocab_size max_position_embeddings hidden_size num_hidden_layers num_attention_heads "
                  "ffn_dim word_embed_proj_dim"),
       keys::used(Holds::flag, "tie_word_embeddings"), keys::only(R"(["opt"])", "model_type"),
       keys::only(R"(["OPTForCausalLM", "OPTModel"])", "architectures"),
       keys::only(R"([null, "relu"])", "activation_function"),
       keys::only("[null, true]", "do_layer_norm_before enable_bias layer_norm_elementwise_affine"),
       keys::only("[null, false]", "_remove_final_layer_norm"),
       keys::harmless("activation_dropout attention_dropout dropout layerdrop init_std")});
}

Result<Description> describe(const Request& request) {
  return describe_by_blocks<OptShape>(request, "model.");
}

}  // namespace

Result<OptShape> OptShape::named(const std::string& name, const std::string& where) {
  static constexpr NamedSize kSizes[] = {{"opt-125m", 768, 12, 12},  {"opt-1.3b", 2048, 24, 32},
                                         {"opt-2.7b", 2560, 32, 32}, {"opt-6.7b", 4096, 32, 32},
                                         {"opt-13b", 5120, 40, 40},  {"opt-30b", 7168, 48, 56},
                                         {"opt-66b", 9216, 64, 72}};
  return shape_named<OptShape>(kSizes, name, where);
}

Result<OptShape> OptShape::from_json(const json::object& config, const std::string& where) {
  if (auto known = check_keys(keys_of_model(kModel, of_config()), config, where); !known)
    return known.error();
  OptShape shape;
  const auto read = read_sizes(config, where,
                               {{"vocab_size", &shape.vocabulary},
                                {"max_position_embeddings", &shape.positions},
                                {"hidden_size", &shape.width},
                                {"num_hidden_layers", &shape.depth},
                                {"num_attention_heads", &shape.heads},
                                {"ffn_dim", &shape.hidden}});
  if (!read) return read.error();
  if (shape.width % shape.heads != 0)
    return error(where + ": 'hidden_size' is not a multiple of 'num_attention_heads'");
  if (int_or(config, "word_embed_proj_dim", shape.width) != shape.width)
    return error(
        where +
        ": 'word_embed_proj_dim' is not 'hidden_size'; embeddings of another width are not supported");
  shape.tied = bool_or(config, "tie_word_embeddings", true);
  return shape;
}

Result<graph::Graph> graph_of(const OptShape& shape, const std::optional<Lora>& lora) {
  graph::Builder net(lora);
  OptParts parts{shape, net};
  const std::string decoder = "model.decoder.";
  const auto d = shape.width;
  const int table = net.add(decoder + "embed_tokens", graph::Embedding{shape.vocabulary, d, kNormal});
  int x = net.add(decoder + "embed_positions",
                  graph::Positions{"weight", {kFirstPosition + shape.positions, d}, kNormal, kFirstPosition});
  for (std::int64_t i = 0; i < shape.depth; ++i) x = parts.block(decoder + "layers." + std::to_string(i), x);
  x = parts.norm(decoder + "final_layer_norm", x);
  if (shape.tied) {
    net.again(table, x);
  } else {
    net.linear("lm_head", {d, shape.vocabulary, false, false, kNormal}, x);
    net.head("lm_head");
  }
  return net.finish();
}

json::object model_config(const OptShape& shape) {
  return {{"model_type", "opt"},
          {"architectures", json::array{"OPTForCausalLM"}},
          {"vocab_size", shape.vocabulary},
          {"max_position_embeddings", shape.positions},
          {"hidden_size", shape.width},
          {"word_embed_proj_dim", shape.width},
          {"num_hidden_layers", shape.depth},
          {"num_attention_heads", shape.heads},
          {"ffn_dim", shape.hidden},
          {"activation_function", "relu"},
          {"do_layer_norm_before", true},
          {"dropout", 0.0},
          {"tie_word_embeddings", shape.tied}};
}

Facts opt_facts() {
  const std::string targets = "self_attn.q_proj,self_attn.v_proj";
  return {
      .name = kModel,
      .title = "OPT",
      .source = "Zhang et al., arXiv:2205.01068; names and weights of Hugging Face",
      .reads = Reads::sequences,
      .options = with_blocks("opt-125m, opt-1.3b, opt-2.7b, opt-6.7b, opt-13b, opt-30b or opt-66b", targets),
      .microbatch = 16,
      .example = {.dataset = "synthetic-tokens",
                  .dataset_options = small_tokens(),
                  .options = {{"width", 8}, {"heads", 2}}},
      .adapter_targets = targets,
      .describe = describe};
}

}  // namespace hyfreedp::models
