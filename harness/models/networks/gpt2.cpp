#include "harness/models/networks/gpt2.h"

#include <cmath>
#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/models/files/config_keys.h"

namespace hyfreedp::models {
namespace {

constexpr double kDeviation = 0.02;

class Gpt2Parts {
 public:
  Gpt2Parts(const Gpt2Shape& shape, graph::Builder& net) : shape_(shape), net_(net) {}

  int norm(const std::string& name, int from) {
    return net_.add(name, graph::LayerNorm{shape_.width, shape_.eps}, {from});
  }
  int linear(const std::string& name, std::int64_t inputs, std::int64_t outputs, int from) {
    return linear(name, inputs, outputs, kDeviation, from);
  }
  // A projection into the residual stream.
  int residual(const std::string& name, std::int64_t inputs, int from) {
    const double blocks = 2.0 * static_cast<double>(shape_.depth);
    return linear(name, inputs, shape_.width, kDeviation / std::sqrt(blocks), from);
  }
  int attention(const std::string& name, int from) {
    const AttentionShape heads{.heads = shape_.heads,
                               .kv_heads = shape_.heads,
                               .head_width = shape_.width / shape_.heads,
                               .causal = true,
                               .masked = shape_.masked};
    std::vector<int> inputs{linear(name + ".c_attn", shape_.width, 3 * shape_.width, from)};
    if (shape_.masked) inputs.push_back(graph::kMask);
    return residual(name + ".c_proj", shape_.width, net_.add(name, graph::Attention{heads}, inputs));
  }
  int block(const std::string& name, int x) {
    net_.block(name);
    const int attended = attention(name + ".attn", norm(name + ".ln_1", x));
    x = net_.add(name + ".add1", graph::Add{}, {x, attended});
    int wide = linear(name + ".mlp.c_fc", shape_.width, shape_.hidden, norm(name + ".ln_2", x));
    wide = net_.add(name + ".mlp.act", graph::Activation{graph::Activation::Kind::gelu_by_tanh}, {wide});
    return net_.add(name + ".add2", graph::Add{}, {x, residual(name + ".mlp.c_proj", shape_.hidden, wide)});
  }

 private:
  int linear(const std::string& name, std::int64_t inputs, std::int64_t outputs, double deviation, int from) {
    const graph::Linear layer{.inputs = inputs,
                              .outputs = outputs,
                              .transposed = true,
                              .weight = {Initial::Kind::normal, deviation}};
    return net_.linear(name, layer, from);
  }

  const Gpt2Shape& shape_;
  graph::Builder& net_;
};

}  // namespace

Result<Gpt2Shape> Gpt2Shape::named(const std::string& name, const std::string& where) {
  struct Size {
    const char* name;
    std::int64_t width, depth, heads;
  };
  static constexpr Size kSizes[] = {{"gpt2", 768, 12, 12},
                                    {"gpt2-medium", 1024, 24, 16},
                                    {"gpt2-large", 1280, 36, 20},
                                    {"gpt2-xl", 1600, 48, 25},
                                    {"distilgpt2", 768, 6, 12}};
  std::vector<std::string> names;
  for (const auto& size : kSizes) {
    names.emplace_back(size.name);
    if (name != size.name) continue;
    Gpt2Shape shape;
    shape.width = size.width;
    shape.depth = size.depth;
    shape.heads = size.heads;
    shape.hidden = 4 * size.width;
    return shape;
  }
  return error(fmt::format("{}: size '{}' is not known.{} Sizes: {}.", where, name, did_you_mean(name, names),
                           join(names, ", ")));
}

Result<Gpt2Shape> Gpt2Shape::from_json(const json::object& config, const std::string& where) {
  if (auto known = check_keys(ConfigKeys::gpt2, config, where); !known) return known.error();
  Gpt2Shape shape;
  for (const auto& [key, target] :
       {std::pair{"vocab_size", &shape.vocabulary}, std::pair{"n_positions", &shape.positions},
        std::pair{"n_embd", &shape.width}, std::pair{"n_layer", &shape.depth},
        std::pair{"n_head", &shape.heads}}) {
    const auto value = get_int(config, key, where);
    if (!value) return value.error();
    if (*value < 1) return error(where + ": '" + key + "' must be at least 1");
    *target = *value;
  }
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
  Gpt2Parts parts(shape, net);
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

}  // namespace hyfreedp::models
