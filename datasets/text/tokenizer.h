// A tokenizer that belongs to a weights folder: from texts to the rows of ids that its network
// reads.
#pragma once

#include <cstdint>
#include <memory>
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
  virtual std::int64_t vocabulary() const = 0;

  // ids [length] := first, text, separator, then padding; with a second text `between` separators
  // stand after the first one. Of texts that are too long, the longer one loses its last ids first.
  // `length` is at least 4.
  void fill_row(std::string_view text, const std::string_view* second, std::span<std::int64_t> ids);

  std::int64_t padding() const { return marks_.padding; }
  std::int64_t separator() const { return marks_.separator; }

 protected:
  struct Marks {
    std::int64_t first = 0, separator = 0, padding = 0;
    std::int64_t between = 1;  // separators between two texts
  };
  Marks marks_;

  Tokenizer() = default;
  Tokenizer(const Tokenizer&) = default;
  Tokenizer(Tokenizer&&) = default;
  Tokenizer& operator=(const Tokenizer&) = default;
  Tokenizer& operator=(Tokenizer&&) = default;
};

// The folder's files that decide the tokens, of whatever kind; a kind has some of them.
inline constexpr const char* kTokenizerFiles[] = {"vocab.txt", "vocab.json", "merges.txt",
                                                  "tokenizer_config.json"};

// WordPiece (word_pieces.h) where the folder has vocab.txt, RoBERTa's pairs of bytes
// (roberta_tokens.h) where it has vocab.json and merges.txt. Errors name the file that is absent or
// wrong.
Result<std::unique_ptr<Tokenizer>> load_tokenizer(const std::string& folder);

// SHA-256 over what decides the tokens: a line for each of kTokenizerFiles that is there.
Result<std::string> tokenizer_checksum(const std::string& folder);

}  // namespace hyfreedp::datasets
