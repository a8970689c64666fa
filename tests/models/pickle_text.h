// What the tests of readers of pickles share: parts of a pickle, and bytes as text.
#pragma once

#include <boost/algorithm/hex.hpp>
#include <cstdint>
#include <gtest/gtest.h>
#include <string>
#include <string_view>

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

namespace hyfreedp::models {

inline std::string hex(std::string_view bytes) { return boost::algorithm::hex_lower(std::string(bytes)); }

inline std::string little(std::uint64_t number, std::size_t length) {
  std::string bytes;
  for (std::size_t i = 0; i < length; ++i) bytes += static_cast<char>(number >> (8 * i) & 255U);
  return bytes;
}
inline std::string text_of(const std::string& text) { return "X" + little(text.size(), 4) + text; }
inline std::string integer_of(std::int64_t number) {
  return "\x8a\x08" + little(static_cast<std::uint64_t>(number), 8);
}

}  // namespace hyfreedp::models
