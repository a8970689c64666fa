#include "datasets/image/resize.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <span>

namespace hyfreedp::datasets {
namespace {

constexpr int kFractionBits = 22;
constexpr std::int32_t kHalf = std::int32_t{1} << (kFractionBits - 1);

double triangle(double x) {
  x = std::fabs(x);
  return x < 1 ? 1 - x : 0;
}

// The order of operations is PIL's, so that the weights are the same to the last bit.
double cubic(double x) {
  constexpr double a = -0.5;
  x = std::fabs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

// The input pixels [from, from + weights.size()) that make one output pixel.
struct Taps {
  std::int64_t from = 0;
  std::span<const std::int32_t> weights;
};

class Weights {
 public:
  Weights(std::int64_t before, std::int64_t after, Interpolation interpolation) {
    const auto kernel = interpolation == Interpolation::bicubic ? cubic : triangle;
    const double scale = static_cast<double>(before) / static_cast<double>(after);
    const double stretch = std::max(scale, 1.0);
    const double support = (interpolation == Interpolation::bicubic ? 2.0 : 1.0) * stretch;
    const double shrink = 1.0 / stretch;
    std::vector<double> row;
    for (std::int64_t x = 0; x < after; ++x) {
      const double centre = (static_cast<double>(x) + 0.5) * scale;
      const double first = centre - support + 0.5;
      const double last = centre + support + 0.5;
      // Towards zero, as PIL's casts; what is below zero is cut off anyway.
      const auto from = std::max(static_cast<std::int64_t>(first), std::int64_t{0});
      const auto to = std::min(static_cast<std::int64_t>(last), before);
      row.clear();
      double sum = 0;
      for (auto i = from; i < to; ++i) {
        row.push_back(kernel((static_cast<double>(i) - centre + 0.5) * shrink));
        sum += row.back();
      }
      places_.push_back({from, values_.size()});
      for (const double weight : row) values_.push_back(fixed_point(sum != 0 ? weight / sum : weight));
    }
    places_.push_back({0, values_.size()});
  }

  Taps operator[](std::int64_t x) const {
    const auto i = static_cast<std::size_t>(x);
    return {places_[i].from,
            std::span(values_).subspan(places_[i].start, places_[i + 1].start - places_[i].start)};
  }

 private:
  struct Place {
    std::int64_t from;
    std::size_t start;  // in values_
  };
  static std::int32_t fixed_point(double weight) {
    return static_cast<std::int32_t>((weight < 0 ? -0.5 : 0.5) + weight * (std::int32_t{1} << kFractionBits));
  }
  std::vector<Place> places_;  // [after + 1]
  std::vector<std::int32_t> values_;
};

std::uint8_t to_byte(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> kFractionBits, 0, 255));
}

Image with_width(const Image& image, std::int64_t width, Interpolation interpolation) {
  const Weights weights(image.width, width, interpolation);
  Image result{.height = image.height,
               .width = width,
               .pixels = std::vector<std::uint8_t>(bytes_of(image.height, width))};
  auto* out = result.pixels.data();
  for (std::int64_t y = 0; y < image.height; ++y) {
    const auto* row = image.pixels.data() + y * image.width * 3;
    for (std::int64_t x = 0; x < width; ++x) {
      const auto taps = weights[x];
      const auto* in = row + taps.from * 3;
      std::int32_t red = kHalf;
      std::int32_t green = kHalf;
      std::int32_t blue = kHalf;
      for (const auto weight : taps.weights) {
        red += in[0] * weight;
        green += in[1] * weight;
        blue += in[2] * weight;
        in += 3;
      }
      *out++ = to_byte(red);
      *out++ = to_byte(green);
      *out++ = to_byte(blue);
    }
  }
  return result;
}

Image with_height(const Image& image, std::int64_t height, Interpolation interpolation) {
  const Weights weights(image.height, height, interpolation);
  Image result{.height = height,
               .width = image.width,
               .pixels = std::vector<std::uint8_t>(bytes_of(height, image.width))};
  const auto row = static_cast<std::size_t>(image.width) * 3;
  std::vector<std::int32_t> sums(row);
  auto* out = result.pixels.data();
  for (std::int64_t y = 0; y < height; ++y) {
    const auto taps = weights[y];
    const auto* in = image.pixels.data() + static_cast<std::size_t>(taps.from) * row;
    std::fill(sums.begin(), sums.end(), kHalf);
    for (const auto weight : taps.weights) {
      for (std::size_t i = 0; i < row; ++i) sums[i] += in[i] * weight;
      in += row;
    }
    for (const auto sum : sums) *out++ = to_byte(sum);
  }
  return result;
}

// floor(n / 2), except that halves go to the even neighbour: Python's round(n / 2).
std::int64_t half_to_even(std::int64_t n) { return n / 2 + (n % 2 == 1 && n / 2 % 2 == 1 ? 1 : 0); }

}  // namespace

Result<Image> resize(const Image& image, std::int64_t height, std::int64_t width, Interpolation interpolation,
                     const ImageLimits& limits) {
  // The image after the first pass is in memory too.
  if (!fits(height, width, limits) || !fits(image.height, width, limits)) {
    return error(
        fmt::format("an image of {} x {} cannot be resized to {} x {}: at least 1 x 1, at most {} a side "
                    "and {} in all. Choose another size, or leave the image out.",
                    image.width, image.height, width, height, limits.side, limits.pixels));
  }
  if (width == image.width && height == image.height) return image;
  if (height == image.height) return with_width(image, width, interpolation);
  if (width == image.width) return with_height(image, height, interpolation);
  return with_height(with_width(image, width, interpolation), height, interpolation);
}

Result<Image> resize_shorter(const Image& image, std::int64_t size, Interpolation interpolation,
                             const ImageLimits& limits) {
  const auto shorter = std::min(image.height, image.width);
  // A larger size is beyond the limits anyway; this one is small enough to multiply.
  const auto wanted = std::clamp(size, std::int64_t{0}, limits.side + 1);
  const auto longer = wanted * std::max(image.height, image.width) / shorter;
  return image.height <= image.width ? resize(image, wanted, longer, interpolation, limits)
                                     : resize(image, longer, wanted, interpolation, limits);
}

Result<Image> centre_crop(const Image& image, std::int64_t size) {
  if (size < 1 || size > std::min(image.height, image.width)) {
    return error(fmt::format("a square of {} cannot be cut from an image of {} x {}. Resize it first.", size,
                             image.width, image.height));
  }
  const auto top = half_to_even(image.height - size);
  const auto left = half_to_even(image.width - size);
  Image result{.height = size, .width = size, .pixels = {}};
  result.pixels.reserve(bytes_of(size, size));
  for (std::int64_t y = 0; y < size; ++y) {
    const auto from = image.pixels.begin() + ((top + y) * image.width + left) * 3;
    result.pixels.insert(result.pixels.end(), from, from + size * 3);
  }
  return result;
}

}  // namespace hyfreedp::datasets
