// Histograms of oriented gradients (HOG) for 28 x 28 grey images: 716 fixed features, none of them
// fitted to data.
//
// They follow Dalal and Triggs, "Histograms of Oriented Gradients for Human Detection" (CVPR 2005),
// with signed orientation, and normalised per image instead of per block. Pixels are scaled to [0,
// 1]; outside the image they are 0. The gradient is [-1, 0, 1] along x and y. There are 8
// orientation bins over 2 pi; a gradient's magnitude is split linearly between the two nearest bin
// centres (k pi / 4).
//
//   part 1   sqrt of the mean over 4 x 4 pixel cells: 7 x 7 x 8 = 392 numbers [row, column, bin]
//   part 2   sqrt of the mean over 8 x 8 cells, padded by 2: 4 x 4 x 8 = 128 numbers
//            [row, column, bin]
//   part 3   mean over 2 x 2 pixels: 14 x 14 = 196 numbers [row, column]
//
// Each part is centred and scaled to norm 1; the whole is then scaled to norm sqrt(716), so that a
// feature is of order 1. A part without contrast is 0, and then the other parts alone make up the
// norm; a blank image gives 0.
#pragma once

#include <cstdint>
#include <span>

namespace hyfreedp::datasets {

inline constexpr std::size_t kImageSide = 28;
inline constexpr std::size_t kImagePixels = kImageSide * kImageSide;
inline constexpr std::size_t kHogFeatures = 716;

// The share of a gradient that falls into bin `low` and into the next one (mod 8);
// low_share + high_share = 1.
struct SoftBin {
  std::size_t low = 0;
  std::size_t high = 1;
  float low_share = 1.0f;
  float high_share = 0.0f;
};
SoftBin soft_bin(float gradient_x, float gradient_y);

void hog_features(std::span<const std::uint8_t, kImagePixels> image, std::span<float, kHogFeatures> out);
// The 784 pixels, centred and scaled to norm sqrt(784). A blank image gives 0.
void pixel_features(std::span<const std::uint8_t, kImagePixels> image, std::span<float, kImagePixels> out);

}  // namespace hyfreedp::datasets
