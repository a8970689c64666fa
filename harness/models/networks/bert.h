// BERT (Devlin et al., arXiv:1810.04805) and RoBERTa (Liu et al., arXiv:1907.11692) as classifiers
// of sequences, with Hugging Face's parameter names: embeddings of tokens, positions and segments,
// blocks with a norm after each sum, exact GELU. There is no dropout. RoBERTa has one segment, its
// first token has the position after that of padding, and the dense layer belongs to its head.
//
//   pool first   the head reads a dense layer with tanh on the first token, as
//                BertForSequenceClassification and RobertaForSequenceClassification
//   pool mean    it reads the mean over the tokens that are not padding, as sentence-transformers'
//                networks; there is no pooler
//
// Inputs: ids [B, T] int64, a pair of texts with a separator after the first. No position attends
// to padding. Output: logits [B, classes]. Initial values: normal 0.02, the head's too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/models/networks/description.h"

namespace hyfreedp::models {

struct BertShape {
  enum class Family { bert, roberta };

  Family family = Family::bert;
  std::int64_t vocabulary = 30522;
  std::int64_t positions = 512;
  std::int64_t segments = 2;
  std::int64_t width = 768;
  std::int64_t depth = 12;
  std::int64_t heads = 12;
  std::int64_t hidden = 3072;
  double eps = 1e-12;
  std::int64_t padding = 0;  // the id of [PAD]
  // The id of [SEP], after which a second text begins; absent: examples are single texts. Not read
  // by RoBERTa.
  std::optional<std::int64_t> separator = {};
  bool pools_first = true;  // RoBERTa's always
  std::int64_t classes = 2;

  // RoBERTa's vocabulary, positions and marks, with BERT's sizes.
  static BertShape roberta();
  // The position of the first token.
  std::int64_t first_position() const { return family == Family::roberta ? padding + 1 : 0; }

  // Sizes by name: "bert-base", "bert-large" or "minilm-l6"; of RoBERTa "roberta-base" or
  // "roberta-large". An error that begins with `where` for another name.
  static Result<BertShape> named(const std::string& name, const std::string& where, Family family);
  // Sizes from Hugging Face's config.json, but for the classes and what the head reads. An error
  // names any option that changes the network and is not supported.
  static Result<BertShape> from_json(const json::object& config, const std::string& where,
                                     Family family = Family::bert);
};

Result<graph::Graph> graph_of(const BertShape& shape, const std::optional<Lora>& lora = {});

json::object model_config(const BertShape& shape);

Facts bert_facts();
Facts roberta_facts();

}  // namespace hyfreedp::models
