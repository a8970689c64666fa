#include "harness/models/weights/resized_positions.h"

#include <cmath>

#include "harness/base/result.h"

namespace hyfreedp::models {

torch::Tensor resized_positions(const torch::Tensor& positions, std::int64_t patches) {
  const auto side = [](std::int64_t count) {
    const auto root = std::llround(std::sqrt(static_cast<double>(count)));
    HYFREEDP_CHECK(root * root == count, "a position embedding is of a square of patches");
    return static_cast<std::int64_t>(root);
  };
  const auto from = side(positions.size(1) - 1);
  const auto to = side(patches);
  if (from == to) return positions;
  const auto grid = positions.narrow(1, 1, from * from).view({1, from, from, -1}).permute({0, 3, 1, 2});
  const auto resized = at::_upsample_bicubic2d_aa(grid.to(torch::kFloat32).contiguous(), {to, to}, false);
  const auto rows = resized.permute({0, 2, 3, 1}).reshape({1, to * to, -1}).to(positions.scalar_type());
  return at::cat({positions.narrow(1, 0, 1), rows}, 1);
}

}  // namespace hyfreedp::models
