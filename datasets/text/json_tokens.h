// Byte-pair encoding as a weights folder's tokenizer.json describes it, the file of Hugging Face's
// tokenizers (https://github.com/huggingface/tokenizers, version 0.22): that of GPT-2, SmolLM2,
// Llama 3 and others (bytes), and Llama's and Mistral's (characters).
//
//   model           BPE; merges as texts "a b" or as pairs
//   pre_tokenizer   ByteLevel, Digits, Split by a pattern that words.h knows, Metaspace, or a
//                   Sequence of them
//   normalizer      none, or Llama's: Prepend and Replace by U+2581
//   post_processor  the marks of a row: TemplateProcessing, RobertaProcessing, BertProcessing
//   added_tokens    marks, all of which must be special
// A text's ids are those of `encode` there, with `encode_special_tokens` set: special tokens in a
// text are plain text. Padding, truncation and decoder are not followed. Every other kind, key or
// value is refused by its name.
#pragma once

#include "datasets/text/byte_pairs.h"
#include "datasets/text/tokenizer.h"

namespace hyfreedp::datasets {

class JsonTokens final : public Tokenizer {
 public:
  // Reads a weights folder: tokenizer.json, and tokenizer_config.json, whose `eos_token` ends a
  // text and whose `pad_token` (else the file's own `padding`, else `eos_token`) fills rows. An
  // error names the file and what is wrong; one of these three must be there.
  static Result<JsonTokens> load(const std::string& folder);

  std::vector<std::int64_t> encode(std::string_view text) override;
  std::optional<std::string> decode(const std::vector<std::int64_t>& ids) const override;
  std::int64_t vocabulary() const override { return pairs_.vocabulary(); }

 private:
  enum class Blank { as_is, where_none, always };  // what is put before a text

  explicit JsonTokens(BytePairs pairs) : pairs_(std::move(pairs)) {}

  friend class JsonReader;
  BytePairs pairs_;
  Blank blank_ = Blank::as_is;
  bool bytes_ = true;
};

}  // namespace hyfreedp::datasets
