#include "harness/models/networks/bert.h"

#include <fmt/format.h>

#include "harness/models/files/config_keys.h"
#include "harness/models/networks/options.h"
#include "harness/models/networks/requests.h"

namespace hyfreedp::models {
namespace {

constexpr const char* kBert = "bert";
constexpr const char* kRoberta = "roberta";
constexpr Initial kNormal{Initial::Kind::normal, 0.02};

using Family = BertShape::Family;

enum class BertPool { first, mean };
BOOST_DESCRIBE_ENUM(BertPool, first, mean)

// RoBERTa has no `pool`.
struct BertOptions {
  BlockOptions blocks;
  BertPool pool = BertPool::first;
  static constexpr std::array kInlined = {"blocks"};
};
BOOST_DESCRIBE_STRUCT(BertOptions, (), (blocks, pool))

const char* name_of(Family family) { return family == Family::roberta ? kRoberta : kBert; }

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
    constexpr std::int64_t kNone = -1;
    const auto separator = shape.family == Family::roberta ? kNone : shape.separator.value_or(kNone);
    const int ids = net.add(name + ".segments", graph::Segments{separator}, {graph::kInput});
    const int segments = net.add(name + ".token_type_embeddings", table(shape.segments), {ids});
    const int both = net.add(name + ".add", graph::Add{}, {words, segments});
    const graph::Positions positions{
        "weight", {shape.positions, shape.width}, kNormal, shape.first_position()};
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
  int dense_of_first(const std::string& name, int x) {
    const int first = net.add(name + ".first", graph::FirstToken{}, {x});
    const int dense = linear(name + ".dense", shape.width, shape.width, first);
    return net.add(name + ".act", graph::Activation{graph::Activation::Kind::tanh}, {dense});
  }
  void head(int x) {
    if (shape.family == Family::roberta) {
      linear("classifier.out_proj", shape.width, shape.classes, dense_of_first("classifier", x));
      net.head("classifier.out_proj", "classifier");
    } else {
      const int pooled = shape.pools_first
                             ? dense_of_first("bert.pooler", x)
                             : net.add("bert.mean", graph::MeanUnpadded{shape.padding}, {x, graph::kInput});
      linear("classifier", shape.width, shape.classes, pooled);
      net.head("classifier");
    }
  }
};

Keys of_config(Family family) {
  const bool is_roberta = family == Family::roberta;
  return keys::joined(
      {keys::used(Holds::whole,
                  "vocab_size max_position_embeddings type_vocab_size hidden_size num_hidden_layers "
                  "num_attention_heads intermediate_size pad_token_id sep_token_id"),
       keys::used(Holds::number, "layer_norm_eps"), keys::of_transformers(),
       keys::only(is_roberta ? R"(["roberta"])" : R"(["bert"])", "model_type"),
       keys::only(
           is_roberta
               ? R"(["RobertaModel", "RobertaForSequenceClassification", "RobertaForMaskedLM"])"
               : R"(["BertModel", "BertForSequenceClassification", "BertForMaskedLM", "BertForPreTraining"])",
           "architectures"),
       keys::only(R"(["gelu"])", "hidden_act"),
       keys::only(R"([null, "absolute"])", "position_embedding_type"),
       keys::harmless("attention_probs_dropout_prob hidden_dropout_prob classifier_dropout "
                      "tie_word_embeddings directionality pooler_fc_size pooler_num_attention_heads "
                      "pooler_num_fc_layers pooler_size_per_head pooler_type")});
}

Result<BertShape> shape_of(const Request& request, Family family) {
  if (auto once = decided_once(request, {"size", "width", "depth", "heads"}); !once) return once.error();
  BertShape sizes;
  sizes.family = family;
  sizes.padding = request.input.padding;
  sizes.vocabulary = request.input.vocabulary;
  sizes.positions = sizes.first_position() + request.input.length;
  return shape_by_blocks(request, sizes, family);
}

Result<Description> describe_family(const Request& request, Family family) {
  if (auto sequence = need_classes_of_sequences(request); !sequence) return sequence.error();
  auto shape = shape_of(request, family);
  if (!shape) return shape.error();
  if (shape->width % shape->heads != 0)
    return error(request.where() + ": 'width' is not a multiple of 'heads'.");
  const auto positions = shape->positions - shape->first_position();
  if (auto fits = fits_sequence(request, shape->vocabulary, positions); !fits) return fits.error();
  // Otherwise it would attend to padding, and a sample's gradient would depend on how long the
  // others of its microbatch are.
  if (shape->padding != request.input.padding) {
    return error(fmt::format(
        "{}: it knows padding by the id {}, and the dataset's sequences end with {}. Use the tokenizer that "
        "belongs to the network.",
        request.where(), shape->padding, request.input.padding));
  }
  if (const auto& between = request.input.separator; between && family == Family::bert) {
    if (shape->separator.value_or(*between) != *between) {
      return error(fmt::format(
          "{}: its second texts begin after the id {} (sep_token_id), and the dataset's after {}. Use the "
          "tokenizer that belongs to the network.",
          request.where(), *shape->separator, *between));
    }
    shape->separator = between;
  }
  shape->pools_first = read_options<BertOptions>(request.options).pool == BertPool::first;
  shape->classes = request.input.classes;
  auto description = description_of(*shape);
  description.prefix = std::string(name_of(family)) + ".";
  // Numbers of positions, the heads of pretraining, and a pooler that is not read.
  const bool is_roberta = family == Family::roberta;
  std::vector<std::string> unread{"embeddings.position_ids"};
  if (is_roberta || !shape->pools_first) unread.emplace_back("pooler.");
  for (const auto& name : unread) {
    description.ignored.push_back(name);
    description.ignored.push_back(description.prefix + name);
  }
  description.ignored.emplace_back(is_roberta ? "lm_head." : "cls.");
  return description;
}

Result<Description> describe_bert(const Request& request) { return describe_family(request, Family::bert); }
Result<Description> describe_roberta(const Request& request) {
  return describe_family(request, Family::roberta);
}

}  // namespace

BertShape BertShape::roberta() {
  BertShape shape;
  shape.family = Family::roberta;
  shape.vocabulary = 50265;
  shape.positions = 514;
  shape.segments = 1;
  shape.eps = 1e-5;
  shape.padding = 1;
  return shape;
}

Result<BertShape> BertShape::named(const std::string& name, const std::string& where, Family family) {
  static constexpr NamedSize kBerts[] = {
      {"bert-base", 768, 12, 12}, {"bert-large", 1024, 24, 16}, {"minilm-l6", 384, 6, 12}};
  static constexpr NamedSize kRobertas[] = {{"roberta-base", 768, 12, 12}, {"roberta-large", 1024, 24, 16}};
  const bool is_roberta = family == Family::roberta;
  const auto size = is_roberta ? named_size(kRobertas, name, where) : named_size(kBerts, name, where);
  if (!size) return size.error();
  return with_sizes(is_roberta ? roberta() : BertShape(), *size);
}

Result<BertShape> BertShape::from_json(const json::object& config, const std::string& where, Family family) {
  if (auto known = check_keys(keys_of_model(name_of(family), of_config(family)), config, where); !known)
    return known.error();
  if (bool_or(config, "is_decoder", false))
    return error(where + ": 'is_decoder' must be false: each token attends to all others here");
  auto shape = family == Family::roberta ? roberta() : BertShape();
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
  // BERT's segments are 0 and 1.
  if (family == Family::bert && shape.segments < 2)
    return error(where + ": 'type_vocab_size' must be at least 2");
  shape.eps = double_or(config, "layer_norm_eps", shape.eps);
  shape.padding = int_or(config, "pad_token_id", shape.padding);
  if (const auto* const mark = config.if_contains("sep_token_id"); mark != nullptr && mark->is_int64())
    shape.separator = mark->get_int64();
  return shape;
}

Result<graph::Graph> graph_of(const BertShape& shape, const std::optional<Lora>& lora) {
  graph::Builder net(lora);
  BertParts parts{shape, net};
  const std::string name = name_of(shape.family);
  int x = parts.embeddings(name + ".embeddings");
  for (std::int64_t i = 0; i < shape.depth; ++i)
    x = parts.block(fmt::format("{}.encoder.layer.{}", name, i), x);
  parts.head(x);
  return net.finish();
}

json::object model_config(const BertShape& shape) {
  json::object labels;
  for (std::int64_t i = 0; i < shape.classes; ++i) labels[std::to_string(i)] = fmt::format("LABEL_{}", i);
  const bool is_roberta = shape.family == Family::roberta;
  // A head that reads a mean of tokens is no class of transformers.
  const bool is_theirs = is_roberta || shape.pools_first;
  const std::string architecture =
      is_roberta ? "RobertaForSequenceClassification" : "BertForSequenceClassification";
  json::object config{{"model_type", name_of(shape.family)},
                      {"architectures", is_theirs ? json::array{architecture} : json::array{}},
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
                      {"hidden_dropout_prob", 0.0},
                      {"attention_probs_dropout_prob", 0.0},
                      {"id2label", labels}};
  if (shape.separator) config["sep_token_id"] = *shape.separator;
  return config;
}

namespace {

Facts facts_of(Family family, std::vector<OptionSpec> own) {
  const std::string targets = "query,value";
  return {.name = name_of(family),
          .reads = Reads::classified_sequences,
          .options = with_adapters(may_be_absent(options_of<BertOptions>(std::move(own))), targets, true),
          .microbatch = 64,
          .example = {.dataset = "synthetic-tokens",
                      .dataset_options = {{"vocabulary", 12}, {"length", 6}, {"classes", 3}, {"train", 600}},
                      .options = {{"width", 8}, {"heads", 2}}},
          .adapter_targets = targets};
}

}  // namespace

Facts bert_facts() {
  auto own = block_table("bert-base, bert-large or minilm-l6");
  own.push_back(plain_option(
      "pool", "what the head reads: a dense layer on the first token, or the mean of the tokens"));
  auto facts = facts_of(Family::bert, std::move(own));
  facts.title = "BERT, a classifier of sequences";
  facts.source = "Devlin et al., arXiv:1810.04805; names and weights of Hugging Face";
  facts.describe = describe_bert;
  return facts;
}

Facts roberta_facts() {
  auto facts = facts_of(Family::roberta, block_table("roberta-base or roberta-large"));
  facts.title = "RoBERTa, a classifier of sequences";
  facts.source = "Liu et al., arXiv:1907.11692; names and weights of Hugging Face";
  facts.describe = describe_roberta;
  return facts;
}

}  // namespace hyfreedp::models
