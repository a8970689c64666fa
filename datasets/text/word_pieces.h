// BERT's tokenizer, which belongs to a weights folder: WordPiece (Schuster & Nakajima, 2012; Devlin
// et al., arXiv:1810.04805) with the rules of Hugging Face's BertTokenizerFast.
//
//   text    UTF-8 without control characters, with blanks around Chinese characters; in small
//           letters and without accents where the vocabulary is uncased
//   words   between white space; a punctuation character is a word of its own
//   pieces  the longest piece in the vocabulary that begins a word, and again of the rest, whose
//           pieces begin with "##". A word with a rest that begins with none, or of more than a
//           hundred characters, is [UNK]
// Rows are [CLS] text [SEP], or [CLS] text [SEP] second [SEP], and [PAD]. White space, punctuation
// and accents are those of utf8proc's tables of Unicode.
#pragma once

#include <unordered_map>

#include "datasets/text/tokenizer.h"

namespace hyfreedp::datasets {

class WordPieces final : public Tokenizer {
 public:
  // Reads a weights folder: vocab.txt, a piece a line, and tokenizer_config.json, whose
  // do_lower_case, strip_accents and tokenize_chinese_chars are followed; without that file they
  // are true. Errors name the file: it is absent, has a piece twice or lacks [PAD], [UNK], [CLS] or
  // [SEP], or asks for a tokenizer of another kind.
  static Result<WordPieces> load(const std::string& folder);

  std::vector<std::int64_t> encode(std::string_view text) override;
  std::int64_t vocabulary() const override { return static_cast<std::int64_t>(ids_.size()); }

 private:
  Result<void> read_vocabulary(const std::string& path);
  Result<void> read_config(const std::string& folder);
  std::string normalised(std::string_view text) const;
  void add_word(const std::string& word, std::vector<std::int64_t>& to);
  std::vector<std::int64_t> pieces_of(const std::string& word) const;

  std::unordered_map<std::string, std::int64_t> ids_;
  std::unordered_map<std::string, std::vector<std::int64_t>> known_words_;
  std::size_t longest_ = 0;  // bytes of a piece
  bool lower_case_ = true;
  bool strip_accents_ = true;
  bool chinese_ = true;
  std::int64_t unknown_ = 0;
};

}  // namespace hyfreedp::datasets
