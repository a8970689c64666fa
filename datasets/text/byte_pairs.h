// GPT-2's tokenizer: byte-level byte-pair encoding (Sennrich et al., arXiv:1508.07909; Radford et
// al., 2019).
//
//   text   UTF-8, cut into words by GPT-2's pattern 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+|
//          ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//   word   a word's bytes are its first symbols; the adjacent pair of symbols that stands first in
//          vocab.bpe is joined, again and again, until no pair is in vocab.bpe
//   ids    of the remaining symbols, from encoder.json
// Every byte string has an encoding, and decoding gives its bytes back. Marks such as
// "<|endoftext|>" in a text are plain text. Letters, numbers and white space are those of Boost's
// tables of Unicode.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp::datasets {

class BytePairs {
 public:
  // `marks`: entries of the encoder that stand for themselves and that no text is encoded to;
  // those that it has not are passed over.
  static Result<BytePairs> load(const std::string& encoder_path, const std::string& merges_path,
                                const std::vector<std::string>& marks);

  // The ids of a text. The object caches the words that it has met, so it must not be used by
  // several threads at once.
  std::vector<std::int64_t> encode(const std::string& text);
  // The text of some ids. An unknown id is an invariant violation (it throws).
  std::string decode(const std::vector<std::int64_t>& ids) const;
  std::int64_t vocabulary() const { return static_cast<std::int64_t>(symbols_.size()); }
  // The id of a mark; nothing where the encoder has not got it.
  std::optional<std::int64_t> mark(const std::string& name) const;

 private:
  Result<void> read_encoder(const std::string& path, const std::vector<std::string>& marks);
  Result<void> read_merges(const std::string& path);
  std::vector<std::int64_t> encode_word(const std::string& word) const;

  std::unordered_map<std::string, std::int64_t> ids_;  // by bytes
  std::vector<std::string> symbols_;                   // bytes of each id
  std::map<std::pair<std::string, std::string>, std::size_t> ranks_;
  std::unordered_map<std::string, std::vector<std::int64_t>> known_words_;
  std::map<std::string, std::int64_t> marks_;
};

// The words that the pattern finds, in order; joined together they are the text.
std::vector<std::string> gpt2_words(const std::string& text);

}  // namespace hyfreedp::datasets
