// Splits a text into words, within which tokenizers by byte-pair encoding join pairs. Letters,
// numbers and white space are those of utf8proc's tables of Unicode; a byte that begins no
// character is a character of its own, neither of them.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

namespace hyfreedp::datasets {

enum class Cut {
  gpt2,       // 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
  llama3,     // the pattern of Llama 3 and of GPT-4, with numbers of up to three digits
  qwen2,      // the same with single digits
  digit,      // each digit is a word, and so is what stands between digits
  digits,     // each run of digits, and what stands between them
  metaspace,  // each U+2581, which stands for a blank, begins a word
};

// The cut whose regular expression is `pattern`, of gpt2, llama3 and qwen2. Nothing: none of them.
std::optional<Cut> cut_of_pattern(std::string_view pattern);

// Calls `found` with each word, in order; joined together they are the text. The first of `cuts`
// cuts the text, the next one each of its words by itself, and so on.
void for_words(std::string_view text, std::span<const Cut> cuts,
               const std::function<void(std::string_view word)>& found);

}  // namespace hyfreedp::datasets
