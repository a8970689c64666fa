#include "datasets/image/hog.h"

#include <array>
#include <cmath>
#include <numbers>

#include "datasets/image/normalise.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::size_t kBins = 8;
constexpr std::size_t kFineCells = 7;    // 4 x 4 pixels each
constexpr std::size_t kCoarseCells = 4;  // 8 x 8 pixels each, the grid starting 2 pixels outside
constexpr std::size_t kPooledSide = 14;
constexpr std::size_t kFine = kFineCells * kFineCells * kBins;
constexpr std::size_t kCoarse = kCoarseCells * kCoarseCells * kBins;
constexpr std::size_t kPooled = kPooledSide * kPooledSide;
static_assert(kFine + kCoarse + kPooled == kHogFeatures);

// The image in [0, 1] with a border of one zero pixel.
constexpr std::size_t kPaddedSide = kImageSide + 2;
using Padded = std::array<float, kPaddedSide * kPaddedSide>;

Padded padded(std::span<const std::uint8_t, kImagePixels> image) {
  Padded result{};
  for (std::size_t y = 0; y < kImageSide; ++y) {
    for (std::size_t x = 0; x < kImageSide; ++x) {
      result[(y + 1) * kPaddedSide + x + 1] = static_cast<float>(image[y * kImageSide + x]) / 255.0f;
    }
  }
  return result;
}

void add_gradients(const Padded& image, std::span<float> fine, std::span<float> coarse) {
  for (std::size_t y = 0; y < kImageSide; ++y) {
    for (std::size_t x = 0; x < kImageSide; ++x) {
      const float* centre = &image[(y + 1) * kPaddedSide + x + 1];
      const float gradient_x = centre[1] - centre[-1];
      const float gradient_y = centre[kPaddedSide] - *(centre - kPaddedSide);
      if (gradient_x == 0.0f && gradient_y == 0.0f) continue;
      const float magnitude = std::sqrt(gradient_x * gradient_x + gradient_y * gradient_y);
      const SoftBin bin = soft_bin(gradient_x, gradient_y);
      float* fine_cell = &fine[(y / 4 * kFineCells + x / 4) * kBins];
      float* coarse_cell = &coarse[((y + 2) / 8 * kCoarseCells + (x + 2) / 8) * kBins];
      fine_cell[bin.low] += magnitude * bin.low_share;
      fine_cell[bin.high] += magnitude * bin.high_share;
      coarse_cell[bin.low] += magnitude * bin.low_share;
      coarse_cell[bin.high] += magnitude * bin.high_share;
    }
  }
}

void root_of_mean(std::span<float> sums, float count) {
  for (float& sum : sums) sum = std::sqrt(sum / count);
}

void pool(const Padded& image, std::span<float> pooled) {
  for (std::size_t y = 0; y < kPooledSide; ++y) {
    for (std::size_t x = 0; x < kPooledSide; ++x) {
      const float* corner = &image[(2 * y + 1) * kPaddedSide + 2 * x + 1];
      pooled[y * kPooledSide + x] =
          0.25f * (corner[0] + corner[1] + corner[kPaddedSide] + corner[kPaddedSide + 1]);
    }
  }
}

void scale_to_norm(std::span<float> values, double length) {
  double squares = 0.0;
  for (const float value : values) squares += static_cast<double>(value) * static_cast<double>(value);
  if (squares == 0.0) return;
  const double factor = length / std::sqrt(squares);
  for (float& value : values) value = static_cast<float>(static_cast<double>(value) * factor);
}

}  // namespace

SoftBin soft_bin(float gradient_x, float gradient_y) {
  constexpr float kBinsPerRadian = static_cast<float>(kBins) / (2.0f * std::numbers::pi_v<float>);
  float position = std::atan2(gradient_y, gradient_x) * kBinsPerRadian;  // [-4, 4]
  if (position < 0.0f) position += static_cast<float>(kBins);
  const float floor = std::floor(position);
  const auto low = static_cast<std::size_t>(floor) % kBins;  // a tiny negative angle rounds up to 8
  const float high_share = position - floor;
  return {.low = low, .high = (low + 1) % kBins, .low_share = 1.0f - high_share, .high_share = high_share};
}

void hog_features(std::span<const std::uint8_t, kImagePixels> image, std::span<float, kHogFeatures> out) {
  for (float& value : out) value = 0.0f;
  const auto fine = out.subspan<0, kFine>();
  const auto coarse = out.subspan<kFine, kCoarse>();
  const auto pooled = out.subspan<kFine + kCoarse, kPooled>();
  const Padded pixels = padded(image);
  add_gradients(pixels, fine, coarse);
  root_of_mean(fine, 16.0f);
  root_of_mean(coarse, 64.0f);
  pool(pixels, pooled);
  centre_and_scale(fine, 1.0);
  centre_and_scale(coarse, 1.0);
  centre_and_scale(pooled, 1.0);
  scale_to_norm(out, std::sqrt(static_cast<double>(kHogFeatures)));
}

void pixel_features(std::span<const std::uint8_t, kImagePixels> image, std::span<float, kImagePixels> out) {
  for (std::size_t i = 0; i < kImagePixels; ++i) out[i] = static_cast<float>(image[i]) / 255.0f;
  centre_and_scale(out, std::sqrt(static_cast<double>(kImagePixels)));
}

}  // namespace hyfreedp::datasets
