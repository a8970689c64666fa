// MATLAB's MAT files of version 5, as bytes. Large arrays are packed a piece at a time.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>
#include <zlib.h>

namespace hyfreedp::datasets {

inline std::string mat_head() {
  std::string bytes = "MATLAB 5.0 MAT-file, made by a test";
  bytes.resize(124, ' ');
  return bytes + std::string("\0\x01IM", 4);
}

inline std::string mat_words(const std::vector<std::uint32_t>& values) {
  std::string bytes(values.size() * 4, '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// An array of bytes in MATLAB's packed form. Its values are `piece(0)`, `piece(1)`, ..., `count` of
// them, of one size.
template <class Piece>
std::string packed_array(char name, const std::vector<std::uint32_t>& sizes, std::uint32_t count,
                         const Piece& piece) {
  const auto values = static_cast<std::uint32_t>(piece(0).size()) * count;
  const auto padding = (8 - values % 8) % 8;
  // Flags, sizes, name, tag of the values.
  auto head = mat_words({6, 8, 9, 0, 5, static_cast<std::uint32_t>(sizes.size() * 4)}) + mat_words(sizes);
  head.resize((head.size() + 7) / 8 * 8, '\0');
  head += mat_words({1 | 1U << 16, static_cast<std::uint32_t>(name), 2, values});
  head = mat_words({14, static_cast<std::uint32_t>(head.size()) + values + padding}) + head;
  z_stream stream = {};
  deflateInit(&stream, 1);
  std::string packed;
  const auto add = [&](std::string part, int flush) {
    std::array<Bytef, 1 << 16> out;
    stream.next_in = reinterpret_cast<Bytef*>(part.data());
    stream.avail_in = static_cast<unsigned>(part.size());
    do {
      stream.next_out = out.data();
      stream.avail_out = out.size();
      deflate(&stream, flush);
      packed.append(reinterpret_cast<const char*>(out.data()), out.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  };
  add(head, Z_NO_FLUSH);
  for (std::uint32_t i = 0; i < count; ++i) add(piece(i), Z_NO_FLUSH);
  add(std::string(padding, '\0'), Z_FINISH);
  deflateEnd(&stream);
  return mat_words({15, static_cast<std::uint32_t>(packed.size())}) + packed;
}

}  // namespace hyfreedp::datasets
