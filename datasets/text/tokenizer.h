// A tokenizer that belongs to a weights folder: from texts to the rows of ids that its network
// reads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp::datasets {

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // The ids of a text, without marks. What stands in a text as a mark is written is plain text, so
  // that no example can end itself. The object caches the words that it has met, so it must not be
  // used by several threads at once.
  virtual std::vector<std::int64_t> encode(std::string_view text) = 0;
  // The text of ids that a network wrote: what `encode` makes them of, without marks and ids beyond
  // the vocabulary, and without the blank that `encode` puts before a text. Its bytes may end
  // within a character. Nothing where this kind of tokenizer has no way back (WordPiece).
  virtual std::optional<std::string> decode(const std::vector<std::int64_t>& ids) const {
    (void)ids;
    return std::nullopt;
  }
  virtual std::int64_t vocabulary() const = 0;

  // The marks of a row. A kind without some of them has empty lists.
  struct Marks {
    std::vector<std::int64_t> before = {}, between = {}, after = {};
    std::int64_t padding = 0;
    // Ends a text that a network continues; nothing where its folder names none.
    std::optional<std::int64_t> end = {};
  };
  const Marks& marks() const { return marks_; }

  // ids [length] := before, text, after, then padding; or before, text, between, second, after. Of
  // texts that are too long, the longer one loses its last ids first. `length` is at least
  // kMostMarks.
  void fill_row(std::string_view text, const std::string_view* second, std::span<std::int64_t> ids);

  // Marks of a pair: no kind has more.
  static constexpr std::size_t kMostMarks = 4;

 protected:
  Marks marks_;

  Tokenizer() = default;
  Tokenizer(const Tokenizer&) = default;
  Tokenizer(Tokenizer&&) = default;
  Tokenizer& operator=(const Tokenizer&) = default;
  Tokenizer& operator=(Tokenizer&&) = default;
};

// The folder's files that decide the tokens, of whatever kind; a kind has some of them.
inline constexpr const char* kTokenizerFiles[] = {
    "vocab.txt", "vocab.json", "merges.txt", "tokenizer_config.json", "tokenizer.json", "tokenizer.model"};

// The first that the folder has of: WordPiece (word_pieces.h), by vocab.txt; pairs of bytes of
// GPT-2, OPT or RoBERTa (pair_tokens.h), by vocab.json and merges.txt where tokenizer_config.json
// does not name another tokenizer than RobertaTokenizer or there is no tokenizer.json; byte-pair
// encoding as tokenizer.json describes it (json_tokens.h); SentencePiece, by tokenizer.model
// (sentence_pieces.h). Errors name the file that is absent or wrong.
Result<std::unique_ptr<Tokenizer>> load_tokenizer(const std::string& folder);

// SHA-256 over what decides the tokens: a line for each of kTokenizerFiles that is there, but for a
// tokenizer.json or tokenizer.model that is not read.
Result<std::string> tokenizer_checksum(const std::string& folder);

}  // namespace hyfreedp::datasets
