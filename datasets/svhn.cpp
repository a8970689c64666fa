#include "datasets/svhn.h"

#include <array>
#include <filesystem>
#include <fmt/format.h>

#include "datasets/dataset.h"
#include "datasets/formats/svhn.h"

namespace hyfreedp::datasets {
namespace {

// A folder with the two files, in it itself.
Result<ImageSplits> read_folder(const std::string& folder) {
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

}  // namespace

Result<Dataset> Svhn::load(const Facts& facts, const json::object& options, const std::string& device) {
  return load_published_images(facts, all(), read_folder, options, device);
}

}  // namespace hyfreedp::datasets
