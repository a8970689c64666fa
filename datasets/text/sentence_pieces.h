// SentencePiece's tokenizers (Kudo and Richardson, arXiv:1808.06226), which belong to weights
// folders with a tokenizer.model: those of Llama 1 and 2, T5 and Gemma. The library
// libsentencepiece cuts the texts, by a unigram model or by byte-pair encoding; marks and blanks
// are those of Hugging Face's LlamaTokenizer, T5Tokenizer and GemmaTokenizer (the slow ones):
//
//                   Llama                              T5             Gemma
//   row of a text   <s> text, </s> with add_eos_token  text </s>      <bos> text
//   of a pair       <s> text <s> second                both + </s>    <bos> text <bos> second
//   padding         pad_token, else eos_token          pad_token      pad_token
//   legacy: true    a blank before the text, where the model says so  as the model says
//   legacy: false   U+2581 in a text is a blank; one blank before it, unless add_prefix_space is
//                   false; the model's own is not put
// A piece that the model calls user-defined is one token wherever a text has it; marks in a text
// are plain text.
#pragma once

#include <map>
#include <memory>

#include "datasets/text/tokenizer.h"
#include "harness/base/json.h"
#include "harness/models/files/piece_model.h"

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace hyfreedp::datasets {

struct PieceClass;

class SentencePieces final : public Tokenizer {
 public:
  // Reads a weights folder: tokenizer.model, and tokenizer_config.json, of which tokenizer_class,
  // legacy, add_prefix_space, add_bos_token, add_eos_token, the names of marks, extra_ids (T5) and
  // added_tokens_decoder are followed; without that file it is Llama's. Tokens that were added to
  // the model's must be special. Errors name the file and what is wrong: the model is damaged
  // (piece_model.h) or of another kind, a mark is absent, or an added token would be cut out of
  // texts.
  static Result<SentencePieces> load(const std::string& folder);

  SentencePieces(SentencePieces&&) noexcept;
  SentencePieces& operator=(SentencePieces&&) noexcept;
  ~SentencePieces() override;

  // Encodes a text of at most 2^26 bytes; a longer one is an invariant violation (it throws). A
  // byte that is not UTF-8 is U+FFFD, as in SentencePiece.
  std::vector<std::int64_t> encode(std::string_view text) override;
  // Without what the model does not know, and with U+FFFD for bytes that are not UTF-8.
  std::optional<std::string> decode(const std::vector<std::int64_t>& ids) const override;
  std::int64_t vocabulary() const override { return vocabulary_; }

 private:
  SentencePieces();

  Result<void> read_added(const json::object& config, const PieceClass& kind, const models::PieceModel& model,
                          const std::string& where);
  Result<void> read_marks(const json::object& config, const PieceClass& kind, const std::string& where);
  Result<void> make_processor(const models::PieceModel& model, const std::string& where);
  std::vector<std::int64_t> cut(std::string_view text) const;

  std::unique_ptr<sentencepiece::SentencePieceProcessor> processor_;
  std::map<std::string, std::int64_t, std::less<>> ids_;  // of pieces and added tokens
  std::int64_t vocabulary_ = 0;
  // `own_blanks_` is set by `legacy: false`. `guard_`, of `guard_tokens_` tokens, is then put
  // before a text so that its first blank is kept.
  bool own_blanks_ = false, begins_with_blank_ = false;
  std::string guard_;
  std::size_t guard_tokens_ = 0;
};

}  // namespace hyfreedp::datasets
