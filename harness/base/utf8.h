// Bytes that people wrote: whether they are text, and how a message quotes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hyfreedp {

// `text` for a line of a message that quotes its input: control characters as \x0a, cut after a
// thousand bytes (between characters of UTF-8) with " ..." for the rest.
std::string as_one_line(std::string_view text);
// Returns where `text` stops being UTF-8: the offset of the first byte that begins no whole
// character of it (overlong forms, surrogates and what lies beyond U+10FFFF are none). Absent: all
// of it is UTF-8.
std::optional<std::size_t> first_byte_not_utf8(std::string_view text);
// `text` with U+FFFD for each such byte.
std::string as_utf8(std::string_view text);

}  // namespace hyfreedp
