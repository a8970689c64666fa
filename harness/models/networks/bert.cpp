#include "harness/models/networks/bert.h"

#include <fmt/format.h>

#include "harness/models/files/config_keys.h"
#include "harness/models/networks/options.h"
#include "harness/models/networks/requests.h"

namespace hyfreedp::models {
namespace {

constexpr const char* kModel = "bert";
constexpr Initial kNormal{Initial::Kind::normal, 0.02};
constexpr const char* kPool = "pool";

struct BertParts {
  const BertShape& shape;
  graph::Builder& net;

  int linear(const std::string& name, std::int64_t inputs, std::int64_t outputs, int from) {
    return net.linear(name, {.inputs = inputs, .outputs = outputs, .weight = kNormal}, from);
  }
  int norm(const std::string& name, int from) {
    return net.add(name, graph::LayerNorm{shape.width, shape.eps}, {from});
  }
  // The norm of x and what `branch` adds to it.
  int added(const std::string& name, int x, int branch) {
    return norm(name + ".LayerNorm", net.add(name + ".add", graph::Add{}, {x, branch}));
  }
  int embeddings(const std::string& name) {
    const auto table = [this](std::int64_t rows) { return graph::Embedding{rows, shape.width, kNormal}; };
    const int words = net.add(name + ".word_embeddings", table(shape.vocabulary), {graph::kInput});
    const int ids = net.add(name + ".segments", graph::Segments{shape.separator}, {graph::kInput});
    const int segments = net.add(name + ".token_type_embeddings", table(shape.segments), {ids});
    const int both = net.add(name + ".add", graph::Add{}, {words, segments});
    const graph::Positions positions{"weight", {shape.positions, shape.width}, kNormal};
    return norm(name + ".LayerNorm", net.add(name + ".position_embeddings", positions, {both}));
  }
  int attention(const std::string& name, int x) {
    const AttentionShape heads{.heads = shape.heads,
                               .kv_heads = shape.heads,
                               .head_width = shape.width / shape.heads,
                               .packed = false,
                               .masked = true,
                               .padding = shape.padding};
    std::vector<int> inputs;
    for (const char* part : {".query", ".key", ".value"})
      inputs.push_back(linear(name + ".self" + part, shape.width, shape.width, x));
    inputs.push_back(graph::kInput);
    const int attended = net.add(name + ".self", graph::Attention{heads}, inputs);
    return added(name + ".output", x, linear(name + ".output.dense", shape.width, shape.width, attended));
  }
  int block(const std::string& name, int x) {
    net.block(name);
    x = attention(name + ".attention", x);
    int wide = linear(name + ".intermediate.dense", shape.width, shape.hidden, x);
    wide = net.add(name + ".intermediate.act", graph::Activation{graph::Activation::Kind::gelu}, {wide});
    return added(name + ".output", x, linear(name + ".output.dense", shape.hidden, shape.width, wide));
  }
  int pooled(int x) {
    if (!shape.pools_first)
      return net.add("bert.mean", graph::MeanUnpadded{shape.padding}, {x, graph::kInput});
    const int first = net.add("bert.first", graph::FirstToken{}, {x});
    const int dense = linear("bert.pooler.dense", shape.width, shape.width, first);
    return net.add("bert.pooler.act", graph::Activation{graph::Activation::Kind::tanh}, {dense});
  }
};

Keys of_config() {
  return keys::joined(
      {keys::used(Holds::whole,
                  "vocab_size max_position_embeddings type_vocab_size hidden_size num_hidden_layers "
                  "num_attention_heads intermediate_size pad_token_id sep_token_id"),
       keys::used(Holds::number, "layer_norm_eps"), keys::of_transformers(),
       keys::only(R"(["bert"])", "model_type"),
       keys::only(
           R"(["BertModel", "BertForSequenceClassification", "BertForMaskedLM", "BertForPreTraining"])",
           "architectures"),
       keys::only(R"(["gelu"])", "hidden_act"),
       keys::only(R"([null, "absolute"])", "position_embedding_type"),
       keys::harmless("attention_probs_dropout_prob hidden_dropout_prob classifier_dropout "
                      "tie_word_embeddings directionality pooler_fc_size pooler_num_attention_heads "
                      "pooler_num_fc_layers pooler_size_per_head pooler_type")});
}

Result<BertShape> shape_of(const Request& request) {
  const auto& options = request.options;
  const std::vector<const char*> sizes{"width", "depth", "heads"};
  if (given(options, "weights")) {
    if (auto alone = decides_alone(request, "weights", {"size", "width", "depth", "heads"}); !alone)
      return alone.error();
    const auto folder = request.folder();
    if (!folder) return folder.error();
    // Of weights that are not fetched yet the size is known by its name.
    const auto named = string_or(folder->config, "architecture", "");
    return named.empty() ? BertShape::from_json(folder->config, folder->where)
                         : BertShape::named(named, folder->where);
  }
  if (given(options, "size")) {
    if (auto alone = decides_alone(request, "size", sizes); !alone) return alone.error();
    return BertShape::named(string_or(options, "size", ""), request.where());
  }
  BertShape shape;
  shape.vocabulary = request.input.vocabulary;
  shape.positions = request.input.length;
  shape.width = int_or(options, "width", 64);
  shape.depth = int_or(options, "depth", 2);
  shape.heads = int_or(options, "heads", 4);
  shape.hidden = 4 * shape.width;
  return shape;
}

Result<Description> describe(const Request& request) {
  if (auto sequence = need_classes_of_sequences(request); !sequence) return sequence.error();
  auto shape = shape_of(request);
  if (!shape) return shape.error();
  if (shape->width % shape->heads != 0)
    return error(request.where() + ": 'width' is not a multiple of 'heads'.");
  if (auto fits = fits_sequence(request, shape->vocabulary, shape->positions); !fits) return fits.error();
  // Otherwise it would attend to padding, and a sample's gradient would depend on how long the
  // others of its microbatch are.
  if (shape->padding != request.input.padding) {
    return error(fmt::format(
        "{}: it knows padding by the id {}, and the dataset's sequences end with {}. Use the tokenizer that "
        "belongs to the network.",
        request.where(), shape->padding, request.input.padding));
  }
  shape->pools_first = string_or(request.options, kPool, "first") == "first";
  shape->classes = request.input.classes;
  auto description = description_of(*shape);
  description.prefix = "bert.";
  // Numbers of positions, the heads of pretraining, and a pooler that is not read.
  description.ignored = {"embeddings.position_ids", "bert.embeddings.position_ids", "cls."};
  if (!shape->pools_first) {
    for (const char* pooler : {"pooler.", "bert.pooler."}) description.ignored.emplace_back(pooler);
  }
  return description;
}

}  // namespace

Result<BertShape> BertShape::named(const std::string& name, const std::string& where) {
  static constexpr NamedSize kSizes[] = {
      {"bert-base", 768, 12, 12}, {"bert-large", 1024, 24, 16}, {"minilm-l6", 384, 6, 12}};
  const auto size = named_size(kSizes, name, where);
  if (!size) return size.error();
  BertShape shape;
  shape.width = size->width;
  shape.depth = size->depth;
  shape.heads = size->heads;
  shape.hidden = 4 * size->width;
  return shape;
}

Result<BertShape> BertShape::from_json(const json::object& config, const std::string& where) {
  if (auto known = check_keys(keys_of_model(kModel, of_config()), config, where); !known)
    return known.error();
  if (bool_or(config, "is_decoder", false))
    return error(where + ": 'is_decoder' must be false: each token attends to all others here");
  BertShape shape;
  const auto read = read_sizes(config, where,
                               {{"vocab_size", &shape.vocabulary},
                                {"max_position_embeddings", &shape.positions},
                                {"type_vocab_size", &shape.segments},
                                {"hidden_size", &shape.width},
                                {"num_hidden_layers", &shape.depth},
                                {"num_attention_heads", &shape.heads},
                                {"intermediate_size", &shape.hidden}});
  if (!read) return read.error();
  if (shape.width % shape.heads != 0)
    return error(where + ": 'hidden_size' is not a multiple of 'num_attention_heads'");
  // Segments are 0 and 1.
  if (shape.segments < 2) return error(where + ": 'type_vocab_size' must be at least 2");
  shape.eps = double_or(config, "layer_norm_eps", shape.eps);
  shape.padding = int_or(config, "pad_token_id", shape.padding);
  shape.separator = int_or(config, "sep_token_id", shape.separator);
  return shape;
}

Result<graph::Graph> graph_of(const BertShape& shape, const std::optional<Lora>& lora) {
  graph::Builder net(lora);
  BertParts parts{shape, net};
  int x = parts.embeddings("bert.embeddings");
  for (std::int64_t i = 0; i < shape.depth; ++i)
    x = parts.block("bert.encoder.layer." + std::to_string(i), x);
  parts.linear("classifier", shape.width, shape.classes, parts.pooled(x));
  net.head("classifier");
  return net.finish();
}

json::object model_config(const BertShape& shape) {
  json::object labels;
  for (std::int64_t i = 0; i < shape.classes; ++i) labels[std::to_string(i)] = fmt::format("LABEL_{}", i);
  return {{"model_type", "bert"},
          {"architectures", json::array{"BertForSequenceClassification"}},
          {"vocab_size", shape.vocabulary},
          {"max_position_embeddings", shape.positions},
          {"type_vocab_size", shape.segments},
          {"hidden_size", shape.width},
          {"num_hidden_layers", shape.depth},
          {"num_attention_heads", shape.heads},
          {"intermediate_size", shape.hidden},
          {"hidden_act", "gelu"},
          {"layer_norm_eps", shape.eps},
          {"pad_token_id", shape.padding},
          {"sep_token_id", shape.separator},
          {"hidden_dropout_prob", 0.0},
          {"attention_probs_dropout_prob", 0.0},
          {"id2label", labels}};
}

Facts bert_facts() {
  const std::string targets = "query,value";
  return {.name = kModel,
          .title = "BERT, a classifier of sequences",
          .source = "Devlin et al., arXiv:1810.04805; names and weights of Hugging Face",
          .options = with_adapters(
              {text("size", "bert-base, bert-large or minilm-l6"),
               count("width", nullptr, 65536, "width of the tokens (default 64)"),
               count("depth", nullptr, 1000, "blocks (default 2)"),
               count("heads", nullptr, 1024, "attention heads (default 4)"),
               choice(kPool, "first",
                      "what the head reads: a dense layer on the first token, or the mean of the tokens",
                      {"first", "mean"})},
              targets, true),
          .microbatch = 64,
          .example = {.dataset = "synthetic-tokens",
                      .dataset_options = {{"vocabulary", 12}, {"length", 6}, {"classes", 3}, {"train", 600}},
                      .options = {{"width", 8}, {"heads", 2}}},
          .adapter_targets = targets,
          .describe = describe};
}

}  // namespace hyfreedp::models
