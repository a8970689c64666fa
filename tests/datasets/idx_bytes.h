// IDX files as bytes.
#pragma once

#include <cstdint>
#include <vector>

namespace hyfreedp::datasets {

// The head of a file of unsigned bytes of this shape.
inline std::vector<std::uint8_t> idx_head(const std::vector<std::uint32_t>& shape) {
  std::vector<std::uint8_t> bytes = {0, 0, 8, static_cast<std::uint8_t>(shape.size())};
  for (const auto size : shape) {
    for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<std::uint8_t>(size >> shift));
  }
  return bytes;
}

}  // namespace hyfreedp::datasets
