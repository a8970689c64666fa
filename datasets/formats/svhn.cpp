#include "datasets/formats/svhn.h"

#include <fmt/format.h>

#include "datasets/formats/mat5.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::int64_t kSide = 32;
constexpr std::int64_t kPixels = 3 * kSide * kSide;

}  // namespace

Result<ImageSet> read_svhn(const std::string& path, std::int64_t max_images) {
  const auto most = static_cast<std::uint64_t>(max_images);
  auto arrays =
      read_mat5(path, {{.name = "X", .max_values = most * kPixels}, {.name = "y", .max_values = most}});
  if (!arrays) return arrays.error();
  auto& [sizes, pixels] = (*arrays)[0];
  const auto& classes = (*arrays)[1];
  const auto shown = fmt::format("{}", fmt::join(sizes, " x "));
  if (sizes.size() == 3) sizes.push_back(1);  // MATLAB drops the last sizes that are 1
  const auto count = sizes.back();
  if (count < 1 || sizes != std::vector<std::int64_t>{kSide, kSide, 3, count}) {
    return error(
        fmt::format("{}: X is {}; expected is 32 x 32 x 3 x n. This is not SVHN's format 2.", path, shown));
  }
  if (classes.sizes != std::vector<std::int64_t>{count, 1}) {
    return error(fmt::format("{}: y is {}; expected is {} x 1, a class for each image of X.", path,
                             fmt::join(classes.sizes, " x "), count));
  }
  ImageSet images{.count = count,
                  .channels = 3,
                  .height = kSide,
                  .width = kSide,
                  .pixels = std::move(pixels),
                  .labels = std::vector<std::int64_t>(classes.values.size())};
  for (std::size_t i = 0; i < images.labels.size(); ++i) {
    const auto value = classes.values[i];
    if (value < 1 || value > 10) {
      return error(
          fmt::format("{}: record {} has the class {}; expected is 1 to 10 (10 is the digit 0). Fetch the "
                      "file again.",
                      path, i, value));
    }
    images.labels[i] = value % 10;
  }
  // The row goes fastest, as in a plane by columns; channels and images are in their places
  // already.
  transpose_planes(images.pixels, kSide);
  return images;
}

}  // namespace hyfreedp::datasets
