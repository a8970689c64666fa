// An image as the datasets hold it, before it meets a network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hyfreedp::datasets {

// Red, green and blue bytes, rows from the top, each from the left.
struct Image {
  std::int64_t height = 0;           // h, at least 1
  std::int64_t width = 0;            // w, at least 1
  std::vector<std::uint8_t> pixels;  // [h, w, 3]

  bool operator==(const Image&) const = default;
};

// The limits of one image. A file of a hundred bytes can declare four billion pixels; these are
// checked before memory for them is taken. Telephones take photos of up to 200 million pixels.
struct ImageLimits {
  std::int64_t side = std::int64_t{1} << 16;    // largest height and width
  std::int64_t pixels = std::int64_t{1} << 28;  // largest height * width: 805 MB as RGB
};

inline bool fits(std::int64_t height, std::int64_t width, const ImageLimits& limits) {
  return height >= 1 && width >= 1 && height <= limits.side && width <= limits.side &&
         height <= limits.pixels / width;
}

inline std::size_t bytes_of(std::int64_t height, std::int64_t width) {
  return static_cast<std::size_t>(height) * static_cast<std::size_t>(width) * 3;
}

}  // namespace hyfreedp::datasets
