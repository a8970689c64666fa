#include "datasets/cifar_shifts.h"

#include "datasets/dataset.h"
#include "datasets/formats/npy.h"

namespace hyfreedp::datasets {
namespace {

ReadImages test_images(const NpyImageFiles& files) {
  return [files](const std::string& path) -> Result<ImageSplits> {
    auto images = read_npy_images(path, files);
    if (!images) return images.error();
    return ImageSplits{.train = {}, .test = std::move(*images)};
  };
}

}  // namespace

Result<Dataset> Cifar10Point1::load(const Facts& facts, const json::object& options,
                                    const std::string& device) {
  const NpyImageFiles files{.pixels = kPixels, .labels = kLabels, .classes = all().classes};
  return load_published_images(facts, all(), test_images(files), options, device);
}

template <std::int64_t kClasses>
Result<Dataset> CorruptedCifarOf<kClasses>::load(const Facts& facts, const json::object& options,
                                                 const std::string& device) {
  NpyImageFiles files{.pixels = string_or(options, "corruption", "gaussian_blur") + ".npy",
                      .labels = "labels.npy",
                      .classes = kClasses};
  if (const auto severity = int_or(options, "severity", 0); severity > 0) {
    files.first = (severity - 1) * CorruptedCifar::kImages;
    files.count = CorruptedCifar::kImages;
  }
  return load_published_images(facts, CorruptedCifar::all(options, kClasses), test_images(files), options,
                               device);
}

template struct CorruptedCifarOf<10>;
template struct CorruptedCifarOf<100>;

}  // namespace hyfreedp::datasets
