// BERT's tokenizer, which belongs to a weights folder: WordPiece (Schuster & Nakajima, 2012; Devlin
// et al., arXiv:1810.04805) with the rules of Hugging Face's BertTokenizerFast.
//
//   text    UTF-8 without control characters, with blanks around Chinese characters; in small
//           letters and without accents where the vocabulary is uncased
//   words   between white space; a punctuation character is a word of its own
//   pieces  the longest piece in the vocabulary that begins a word, and again of the rest, whose
//           pieces begin with "##". A word with a rest that begins with none, or of more than a
//           hundred characters, is [UNK]
// "[SEP]" and the like in a text are plain text, so that no example can end itself. White space,
// punctuation and accents are those of utf8proc's tables of Unicode.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp::datasets {

class WordPieces {
 public:
  // From a weights folder: vocab.txt, a piece a line, and tokenizer_config.json, whose
  // do_lower_case, strip_accents and tokenize_chinese_chars are followed; without that file they
  // are true. Errors name the file: it is absent, has a piece twice or lacks [PAD], [UNK], [CLS] or
  // [SEP], or asks for a tokenizer of another kind.
  static Result<WordPieces> load(const std::string& folder);

  // The ids of a text, without [CLS] and [SEP]. The object caches the words that it has met, so it
  // must not be used by several threads at once.
  std::vector<std::int64_t> encode(std::string_view text);
  // ids [length] := [CLS] text [SEP], or with two texts [CLS] text [SEP] second [SEP], then [PAD].
  // Of texts that are too long, the longer one loses its last pieces first. `length` is at least 3,
  // with a second text 4.
  void fill_row(std::string_view text, const std::string_view* second, std::span<std::int64_t> ids);

  std::int64_t vocabulary() const { return static_cast<std::int64_t>(ids_.size()); }
  std::int64_t padding() const { return padding_; }
  std::int64_t separator() const { return separator_; }

 private:
  Result<void> read_vocabulary(const std::string& path);
  Result<void> read_config(const std::string& path);
  std::string normalised(std::string_view text) const;
  void add_word(const std::string& word, std::vector<std::int64_t>& to);
  std::vector<std::int64_t> pieces_of(const std::string& word) const;

  std::unordered_map<std::string, std::int64_t> ids_;
  std::unordered_map<std::string, std::vector<std::int64_t>> known_words_;
  std::size_t longest_ = 0;  // bytes of a piece
  bool lower_case_ = true;
  bool strip_accents_ = true;
  bool chinese_ = true;
  std::int64_t padding_ = 0, unknown_ = 0, first_ = 0, separator_ = 0;
};

// SHA-256 over what decides the tokens: vocab.txt and, where it is there, tokenizer_config.json.
Result<std::string> tokenizer_checksum(const std::string& folder);

}  // namespace hyfreedp::datasets
