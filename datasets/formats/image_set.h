// Labelled images of one size, as the readers of image formats give them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hyfreedp::datasets {

struct ImageSet {
  std::int64_t count = 0;            // n
  std::int64_t channels = 0;         // c, red first
  std::int64_t height = 0;           // h
  std::int64_t width = 0;            // w
  std::vector<std::uint8_t> pixels;  // [n, c, h, w]
  std::vector<std::int64_t> labels;  // [n], from 0

  bool operator==(const ImageSet&) const = default;
};

struct ImageSplits {
  ImageSet train;
  ImageSet test;
};

// Makes rows of columns in each square plane of `pixels` [planes, side, side], in place: some
// formats store an image column by column.
void transpose_planes(std::span<std::uint8_t> pixels, std::int64_t side);

}  // namespace hyfreedp::datasets
