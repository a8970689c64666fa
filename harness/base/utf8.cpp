#include "harness/base/utf8.h"

#include <fmt/format.h>

namespace hyfreedp {
namespace {

constexpr std::size_t kLongestLine = 1000;  // bytes

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// Bytes of the character that begins at `at`; 0 where none of UTF-8 does.
std::size_t character_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto first = byte(at);
  if (first < 0x80) return 1;
  const std::size_t length = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (std::size_t i = at + 1; i < at + length; ++i) {
    if (!continues_character(text[i])) return 0;
  }
  const auto second = byte(at + 1);
  const bool is_overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool is_surrogate = first == 0xED && second > 0x9F;
  const bool is_beyond = first == 0xF4 && second > 0x8F;
  return is_overlong || is_surrogate || is_beyond ? 0 : length;
}

}  // namespace

std::string as_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (line.size() >= kLongestLine && !continues_character(c)) return line + " ...";
    if (byte < 0x20 || byte == 0x7F) {
      line += fmt::format("\\x{:02x}", byte);
    } else {
      line += c;
    }
  }
  return line;
}

std::optional<std::size_t> first_byte_not_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto length = character_length(text, at);
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

std::string as_utf8(std::string_view text) {
  std::string whole;
  while (const auto wrong = first_byte_not_utf8(text)) {
    whole += text.substr(0, *wrong);
    whole += "\xEF\xBF\xBD";
    text.remove_prefix(*wrong + 1);
  }
  return whole.append(text);
}

}  // namespace hyfreedp
