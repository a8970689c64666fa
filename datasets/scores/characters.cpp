#include "datasets/scores/characters.h"

#include <utf8proc.h>

namespace hyfreedp::scores {
namespace {

constexpr char32_t kReplacement = 0xfffd;

utf8proc_int32_t code_of(char32_t character) { return static_cast<utf8proc_int32_t>(character); }

}  // namespace

std::u32string characters_of(std::string_view text) {
  std::u32string characters;
  characters.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80) {
      characters += static_cast<char32_t>(byte);
      ++at;
      continue;
    }
    utf8proc_int32_t code = 0;
    const auto* const bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at);
    const auto length = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size() - at), &code);
    characters += length > 0 ? static_cast<char32_t>(code) : kReplacement;
    at += length > 0 ? static_cast<std::size_t>(length) : 1;
  }
  return characters;
}

std::string text_of(std::u32string_view characters) {
  std::string text;
  for (const auto character : characters) {
    utf8proc_uint8_t bytes[4];
    const auto length = utf8proc_encode_char(code_of(character), bytes);
    text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length));
  }
  return text;
}

std::u32string lower_case(std::u32string characters) {
  for (auto& character : characters) {
    if (character < 0x80) {
      if (character >= U'A' && character <= U'Z') character += U'a' - U'A';
    } else {
      character = static_cast<char32_t>(utf8proc_tolower(code_of(character)));
    }
  }
  return characters;
}

bool is_space(char32_t character) {
  if (character < 0x80)
    return character == U' ' || (character >= 0x09 && character <= 0x0d) ||
           (character >= 0x1c && character <= 0x1f);
  const auto category = utf8proc_category(code_of(character));
  return character == 0x85 || (category >= UTF8PROC_CATEGORY_ZS && category <= UTF8PROC_CATEGORY_ZP);
}

bool is_of_word(char32_t character) {
  const auto category = utf8proc_category(code_of(character));
  return character == U'_' || (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) ||
         (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO);
}

std::vector<std::string> split_at_space(std::string_view text) {
  const auto characters = characters_of(text);
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < characters.size();) {
    auto end = at;
    while (end < characters.size() && !is_space(characters[end])) ++end;
    if (end > at) parts.push_back(text_of(std::u32string_view(characters).substr(at, end - at)));
    at = end + 1;
  }
  return parts;
}

}  // namespace hyfreedp::scores
