#include "datasets/formats/image_set.h"

#include <cstddef>
#include <utility>

#include "harness/base/result.h"

namespace hyfreedp::datasets {

void transpose_planes(std::span<std::uint8_t> pixels, std::int64_t side) {
  const auto n = static_cast<std::size_t>(side);
  HYFREEDP_CHECK(side > 0 && pixels.size() % (n * n) == 0, "the pixels are not whole square planes");
  for (std::size_t plane = 0; plane < pixels.size(); plane += n * n) {
    for (std::size_t row = 0; row < n; ++row) {
      for (std::size_t column = row + 1; column < n; ++column) {
        std::swap(pixels[plane + row * n + column], pixels[plane + column * n + row]);
      }
    }
  }
}

}  // namespace hyfreedp::datasets
