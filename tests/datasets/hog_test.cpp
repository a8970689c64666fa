#include "datasets/image/hog.h"

#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

#include "harness/random/stream.h"

namespace hyfreedp::datasets {
namespace {

using Image = std::array<std::uint8_t, kImagePixels>;
using Hog = std::array<float, kHogFeatures>;

constexpr std::size_t kFine = 0, kCoarse = 392, kPooled = 520;  // where the parts begin

std::size_t fine(std::size_t row, std::size_t column, std::size_t bin) {
  return kFine + (row * 7 + column) * 8 + bin;
}
std::size_t coarse(std::size_t row, std::size_t column, std::size_t bin) {
  return kCoarse + (row * 4 + column) * 8 + bin;
}
std::size_t pooled(std::size_t row, std::size_t column) { return kPooled + row * 14 + column; }

Hog hog_of(const Image& image) {
  Hog out;
  out.fill(std::nanf(""));
  hog_features(image, out);
  return out;
}

Image noise_image(std::uint32_t step) {
  Image image;
  std::vector<std::uint64_t> words(kImagePixels);
  random::fill_bits(random::key_from_seed("hog_test"), {.step = step}, 0, words);
  for (std::size_t i = 0; i < kImagePixels; ++i) image[i] = static_cast<std::uint8_t>(words[i] & 255);
  return image;
}

double part_norm(const Hog& hog, std::size_t begin, std::size_t end) {
  double squares = 0.0;
  for (std::size_t i = begin; i < end; ++i)
    squares += static_cast<double>(hog[i]) * static_cast<double>(hog[i]);
  return std::sqrt(squares);
}

double part_sum(const Hog& hog, std::size_t begin, std::size_t end) {
  double sum = 0.0;
  for (std::size_t i = begin; i < end; ++i) sum += static_cast<double>(hog[i]);
  return sum;
}

// Directions k pi / 4 fall wholly into bin k; halfway is shared equally; 30 degrees gives bin 1 two
// thirds.
TEST(Hog, OrientationIsSharedBetweenTheTwoNearestBins) {
  constexpr double kPi = 3.14159265358979323846;
  for (std::size_t k = 0; k < 8; ++k) {
    for (const double beyond : {0.0, 1.0 / 3.0, 0.5, 2.0 / 3.0}) {
      const double angle = (static_cast<double>(k) + beyond) * kPi / 4.0;
      const auto bin =
          soft_bin(static_cast<float>(3.0 * std::cos(angle)), static_cast<float>(3.0 * std::sin(angle)));
      std::array<double, 8> share{};
      share[bin.low] += static_cast<double>(bin.low_share);
      share[bin.high] += static_cast<double>(bin.high_share);
      EXPECT_NEAR(share[k], 1.0 - beyond, 1e-5) << k << " + " << beyond;
      EXPECT_NEAR(share[(k + 1) % 8], beyond, 1e-5) << k << " + " << beyond;
    }
  }
  const auto just_below_zero = soft_bin(1.0f, -1e-30f);
  EXPECT_LT(just_below_zero.low, 8u);
  EXPECT_LT(just_below_zero.high, 8u);
}

// One white pixel at (14, 14), by hand: its four neighbours have gradients of length 1 towards it.
// The fine cells are 4 wide, so the neighbours to the left and above are in cell 3, as are those
// right and below (12..15). The coarse cells begin at -2, so 13 is in cell 1 and 14, 15 are in cell
// 2. The pooled cell (7, 7) is 1/4.
TEST(Hog, OneWhitePixelByHand) {
  Image image{};
  image[14 * kImageSide + 14] = 255;
  const auto hog = hog_of(image);
  // k equal values v among n, centred and scaled to norm 1: v -> sqrt((1 - k/n) / k),
  // 0 -> -sqrt(k/n / (n - k)).
  const auto expect_part = [&hog](std::size_t begin, std::size_t n, const std::vector<std::size_t>& on) {
    const double k = static_cast<double>(on.size());
    const double size = static_cast<double>(n);
    const double scale = std::sqrt(716.0 / 3.0);
    const double high = scale * std::sqrt((1.0 - k / size) / k);
    const double low = -scale * std::sqrt(k / size / (size - k));
    std::vector<double> expected(n, low);
    for (const std::size_t i : on) expected[i - begin] = high;
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(static_cast<double>(hog[begin + i]), expected[i], 1e-5) << "feature " << begin + i;
    }
  };
  expect_part(kFine, 392, {fine(3, 3, 0), fine(3, 3, 4), fine(3, 3, 2), fine(3, 3, 6)});
  expect_part(kCoarse, 128, {coarse(2, 1, 0), coarse(2, 2, 4), coarse(1, 2, 2), coarse(2, 2, 6)});
  expect_part(kPooled, 196, {pooled(7, 7)});
}

// Two white pixels, one above and one left of (5, 5)'s neighbours: magnitudes and the square root
// enter. Pixel values 255 and 51 give |gradient| 1 and 1/5, so the fine cells' roots are in the
// ratio sqrt(5).
TEST(Hog, CellsHoldTheRootOfTheMeanMagnitude) {
  Image image{};
  image[2 * kImageSide + 2] = 255;   // all its neighbours in fine cell (0, 0)
  image[18 * kImageSide + 18] = 51;  // all its neighbours in fine cell (4, 4)
  const auto hog = hog_of(image);
  const double background = static_cast<double>(hog[fine(6, 6, 1)]);
  const double bright = static_cast<double>(hog[fine(0, 0, 0)]) - background;
  const double dim = static_cast<double>(hog[fine(4, 4, 0)]) - background;
  EXPECT_NEAR(bright / dim, std::sqrt(5.0), 1e-4);
}

TEST(Hog, EachPartIsCentredAndTheWholeHasNormRoot716) {
  for (std::uint32_t step = 0; step < 20; ++step) {
    const auto hog = hog_of(noise_image(step));
    EXPECT_NEAR(part_norm(hog, 0, kHogFeatures), std::sqrt(716.0), 1e-4);
    const double share = std::sqrt(716.0 / 3.0);
    for (const auto& [begin, end] :
         {std::pair{kFine, kCoarse}, {kCoarse, kPooled}, {kPooled, kHogFeatures}}) {
      EXPECT_NEAR(part_norm(hog, begin, end), share, 1e-4);
      EXPECT_NEAR(part_sum(hog, begin, end), 0.0, 1e-3);
    }
  }
}

TEST(Hog, ABlankImageIsZeroAndAPartWithoutContrastToo) {
  for (const float value : hog_of(Image{})) ASSERT_EQ(value, 0.0f);
  // All white: the pooled part is constant, the gradients at the border remain and make up the
  // whole norm.
  Image white;
  white.fill(255);
  const auto hog = hog_of(white);
  EXPECT_EQ(part_norm(hog, kPooled, kHogFeatures), 0.0);
  EXPECT_NEAR(part_norm(hog, 0, kHogFeatures), std::sqrt(716.0), 1e-4);
}

// A shift by 8 pixels moves a figure by two fine cells, one coarse cell and four pooled pixels and
// changes nothing else.
TEST(Hog, AShiftByACellShiftsTheFeatures) {
  const auto source = noise_image(77);
  Image here{}, there{};
  for (std::size_t y = 7; y < 13; ++y) {
    for (std::size_t x = 7; x < 13; ++x) {
      here[y * kImageSide + x] = source[y * kImageSide + x];
      there[(y + 8) * kImageSide + x + 8] = source[y * kImageSide + x];
    }
  }
  const auto before = hog_of(here);
  const auto after = hog_of(there);
  EXPECT_NE(before, after);
  for (std::size_t bin = 0; bin < 8; ++bin) {
    for (std::size_t y = 0; y < 5; ++y) {
      for (std::size_t x = 0; x < 5; ++x) {
        EXPECT_NEAR(after[fine(y + 2, x + 2, bin)], before[fine(y, x, bin)], 1e-4f);
      }
    }
    for (std::size_t y = 0; y < 3; ++y) {
      for (std::size_t x = 0; x < 3; ++x) {
        EXPECT_NEAR(after[coarse(y + 1, x + 1, bin)], before[coarse(y, x, bin)], 1e-4f);
      }
    }
  }
  for (std::size_t y = 0; y < 10; ++y) {
    for (std::size_t x = 0; x < 10; ++x)
      EXPECT_NEAR(after[pooled(y + 4, x + 4)], before[pooled(y, x)], 1e-4f);
  }
}

// Brightness only scales a part, which the normalisation takes out again.
TEST(Hog, DoesNotDependOnContrast) {
  Image bright = noise_image(5), dim;
  for (std::size_t i = 0; i < kImagePixels; ++i) {
    bright[i] = static_cast<std::uint8_t>(bright[i] / 2 * 2);
    dim[i] = bright[i] / 2;
  }
  const auto one = hog_of(bright);
  const auto two = hog_of(dim);
  for (std::size_t i = 0; i < kHogFeatures; ++i) EXPECT_NEAR(one[i], two[i], 1e-4f);
}

TEST(Pixels, AreCentredAndScaledPerImage) {
  Image image = noise_image(3);
  std::array<float, kImagePixels> out;
  pixel_features(image, out);
  double sum = 0.0, squares = 0.0, pixel_sum = 0.0;
  for (std::size_t i = 0; i < kImagePixels; ++i) {
    sum += static_cast<double>(out[i]);
    squares += static_cast<double>(out[i]) * static_cast<double>(out[i]);
    pixel_sum += image[i];
  }
  EXPECT_NEAR(sum, 0.0, 1e-3);
  EXPECT_NEAR(std::sqrt(squares), 28.0, 1e-4);
  // An affine map of the pixels: a pixel's feature has the sign of its distance from the image's
  // mean.
  for (std::size_t i = 0; i < kImagePixels; ++i) {
    EXPECT_EQ(out[i] > 0.0f, image[i] > pixel_sum / static_cast<double>(kImagePixels));
  }
  image.fill(200);
  pixel_features(image, out);
  for (const float value : out) ASSERT_EQ(value, 0.0f);
}

}  // namespace
}  // namespace hyfreedp::datasets
