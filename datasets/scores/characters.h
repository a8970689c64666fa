// Texts by characters of Unicode, with utf8proc's tables. A byte that begins no character of UTF-8
// counts as one character, U+FFFD, and comes back as that.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hyfreedp::scores {

std::u32string characters_of(std::string_view text);
std::string text_of(std::u32string_view characters);

// Each character by itself; what becomes several letters, or depends on its place in a word, is not
// told apart.
std::u32string lower_case(std::u32string characters);
// True for the characters at which Python's str.split() splits.
bool is_space(char32_t character);
// Letters, numbers and the underscore: what a word has, in Python's regular expressions.
bool is_of_word(char32_t character);
// The parts between white space, none of them empty.
std::vector<std::string> split_at_space(std::string_view text);

}  // namespace hyfreedp::scores
