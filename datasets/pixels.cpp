#include "datasets/pixels.h"

#include <ATen/ATen.h>

namespace hyfreedp::datasets {

torch::Tensor scaled(const torch::Tensor& bytes, const PixelScale& scale, torch::ScalarType type) {
  const auto channels = static_cast<std::int64_t>(scale.mean.size());
  auto values = bytes.to(type).view({bytes.size(0), channels, -1});
  for (std::int64_t c = 0; c < channels; ++c) {
    const auto at = static_cast<std::size_t>(c);
    values.select(1, c).div_(255.0).sub_(scale.mean[at]).div_(scale.deviation[at]);
  }
  return values.view({bytes.size(0), -1});
}

}  // namespace hyfreedp::datasets
