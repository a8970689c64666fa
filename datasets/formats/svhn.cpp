#include "datasets/formats/svhn.h"

#include <array>
#include <filesystem>
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

Result<ImageSplits> read_svhn_folder(const std::string& folder) {
  const std::array<std::string, 2> paths = {folder + "/train_32x32.mat", folder + "/test_32x32.mat"};
  for (const auto& path : paths) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) {
      return error(
          fmt::format("{}: there is no such file. Expected is a folder with train_32x32.mat and "
                      "test_32x32.mat, not packed.",
                      path));
    }
  }
  auto train = read_svhn(paths[0]);
  if (!train) return train.error();
  auto test = read_svhn(paths[1]);
  if (!test) return test.error();
  return ImageSplits{.train = std::move(*train), .test = std::move(*test)};
}

}  // namespace hyfreedp::datasets
