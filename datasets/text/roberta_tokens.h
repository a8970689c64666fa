// RoBERTa's tokenizer (Liu et al., arXiv:1907.11692), with the rules of Hugging Face's
// RobertaTokenizer: GPT-2's pairs of bytes (byte_pairs.h) under ids of its own, and rows
// <s> text </s>, or <s> text </s> </s> second </s>, and <pad>.
#pragma once

#include "datasets/text/byte_pairs.h"
#include "datasets/text/tokenizer.h"

namespace hyfreedp::datasets {

// Its class in transformers.
inline constexpr const char* kRoberta = "RobertaTokenizer";

class RobertaTokens final : public Tokenizer {
 public:
  // From a weights folder: vocab.json, merges.txt and tokenizer_config.json, of which
  // add_prefix_space is followed. Errors name the file: it is absent, lacks <s>, </s> or <pad>, or
  // asks for a tokenizer of another kind.
  static Result<RobertaTokens> load(const std::string& folder);

  std::vector<std::int64_t> encode(std::string_view text) override;
  std::int64_t vocabulary() const override { return pairs_.vocabulary(); }

 private:
  explicit RobertaTokens(BytePairs pairs) : pairs_(std::move(pairs)) {}

  BytePairs pairs_;
  bool begins_with_blank_ = false;
};

}  // namespace hyfreedp::datasets
