// The tokenizers that vocab.json and merges.txt make: GPT-2's pairs of bytes (byte_pairs.h) under
// the ids of a weights folder. Their kind decides the marks, with the rules of Hugging Face's
// RobertaTokenizer and GPT2Tokenizer:
//   RoBERTa (Liu et al., 2019)   <s> text </s>, or <s> text </s> </s> second </s>; <pad>
//   GPT-2, OPT                   text, after the tokenizer's bos_token where tokenizer_config.json
//                                says add_bos_token, as OPT's does
#pragma once

#include "datasets/text/byte_pairs.h"
#include "datasets/text/tokenizer.h"

namespace hyfreedp::datasets {

// RoBERTa's class in transformers.
inline constexpr const char* kRoberta = "RobertaTokenizer";

class PairTokens final : public Tokenizer {
 public:
  // Reads a weights folder: vocab.json, merges.txt and tokenizer_config.json, of which
  // tokenizer_class, add_prefix_space and, for GPT-2's, add_bos_token, bos_token, eos_token and
  // pad_token are followed. Without a class, a vocabulary with <|endoftext|> is GPT-2's, and
  // another one RoBERTa's. Errors name the file: it is absent, lacks a mark, or asks for a
  // tokenizer of another kind.
  static Result<PairTokens> load(const std::string& folder);

  std::vector<std::int64_t> encode(std::string_view text) override;
  std::optional<std::string> decode(const std::vector<std::int64_t>& ids) const override;
  std::int64_t vocabulary() const override { return pairs_.vocabulary(); }

 private:
  explicit PairTokens(BytePairs pairs) : pairs_(std::move(pairs)) {}

  BytePairs pairs_;
  bool begins_with_blank_ = false;
};

}  // namespace hyfreedp::datasets
