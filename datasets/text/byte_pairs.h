// Byte-pair encoding (Sennrich et al., arXiv:1508.07909; Radford et al., 2019), of GPT-2's kind and
// of Llama's.
//
//   text      UTF-8, cut into words (words.h)
//   word      its first symbols are its bytes, or with `bytes = false` its characters; the adjacent
//             pair of symbols that stands first among the pairs (of equals the leftmost) is joined,
//             again and again, until none is among them
//   ids       of the remaining symbols
// If all bytes have a symbol, every byte string has an encoding, and decoding gives its bytes back.
// Special tokens such as "<|endoftext|>" in a text are plain text.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "datasets/text/words.h"
#include "harness/base/result.h"

namespace hyfreedp::datasets {

// The tables of such a tokenizer, with symbols as its files write them.
struct PairTables {
  std::vector<std::pair<std::string, std::int64_t>> symbols = {};
  std::vector<std::pair<std::string, std::string>> pairs = {};  // the first is joined first
  // Special tokens and their ids; no text is encoded to one. Symbols and marks have the ids from 0
  // on, each once.
  std::map<std::string, std::int64_t> marks = {};
  std::vector<Cut> cuts = {Cut::gpt2};
  // True if bytes are symbols, written as in GPT-2's files. If not, characters are, and those
  // without a symbol are encoded as bytes, all of which must be there as "<0x0A>".
  bool bytes = true;
  // The id of a byte that has no symbol; nothing: such bytes are left out. `one_unknown`: it stands
  // once for a run of them.
  std::optional<std::int64_t> unknown = {};
  bool one_unknown = false;
  bool whole_words = false;  // a word that is a symbol is not cut, whatever pairs there are
};

class BytePairs {
 public:
  // `symbols` and `pairs` begin messages. Errors: ids that are not 0 and up, what is no symbol, a
  // pair that joins to none.
  static Result<BytePairs> make(const PairTables& tables, const std::string& symbols,
                                const std::string& pairs);
  // Reads GPT-2's files, encoder.json and vocab.bpe. `marks`: names of special tokens; those that
  // the encoder lacks are passed over. Every byte must have a symbol.
  static Result<BytePairs> load(const std::string& encoder_path, const std::string& merges_path,
                                const std::vector<std::string>& marks);

  // The ids of a text. The object caches the words that it has met, so it must not be used by
  // several threads at once.
  std::vector<std::int64_t> encode(std::string_view text);
  // The text of some ids, without marks and unknown ids, and with bytes for symbols that are
  // written "<0x0A>".
  std::string text_of(const std::vector<std::int64_t>& ids) const;
  std::int64_t vocabulary() const { return static_cast<std::int64_t>(symbols_.size()); }
  // The id of a mark; nothing where there is no such mark.
  std::optional<std::int64_t> mark(const std::string& name) const;

 private:
  struct Join {
    std::int64_t rank = 0, id = 0;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  template <class T>
  using ByText = std::unordered_map<std::string, T, Hash, std::equal_to<>>;

  Result<void> read_symbols(const PairTables& tables, const std::string& where);
  Result<void> read_pairs(const PairTables& tables, const std::string& where);
  const Join* join_of(std::int64_t left, std::int64_t right) const;
  void add_bytes(std::string_view bytes, std::vector<std::int64_t>& to) const;
  std::vector<std::int64_t> first_symbols(std::string_view word) const;
  void join_pairs(std::vector<std::int64_t>& ids) const;
  std::vector<std::int64_t> encode_word(std::string_view word) const;

  ByText<std::int64_t> ids_;                       // of symbols, by what they stand for
  std::vector<std::string> symbols_;               // what each id stands for
  std::array<std::int64_t, 256> byte_ids_{};       // -1: none
  std::unordered_map<std::uint64_t, Join> joins_;  // by the ids of left and right
  std::map<std::string, std::int64_t> marks_;
  std::vector<Cut> cuts_;
  bool bytes_ = true, one_unknown_ = false, whole_words_ = false;
  std::optional<std::int64_t> unknown_;
  ByText<std::vector<std::int64_t>> known_words_;
};

}  // namespace hyfreedp::datasets
