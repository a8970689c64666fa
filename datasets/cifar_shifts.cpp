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

Result<Dataset> CorruptedCifar::load(const Facts& facts, std::int64_t classes, const json::object& options,
                                     const std::string& device) {
  NpyImageFiles files{.pixels = string_or(options, "corruption", "gaussian_blur") + ".npy",
                      .labels = "labels.npy",
                      .classes = classes};
  if (const auto severity = int_or(options, "severity", 0); severity > 0) {
    files.first = (severity - 1) * kImages;
    files.count = kImages;
  }
  return load_published_images(facts, all(options, classes), test_images(files), options, device);
}

Result<Dataset> Cifar10C::load(const Facts& facts, const json::object& options, const std::string& device) {
  return CorruptedCifar::load(facts, kClasses, options, device);
}

Result<Dataset> Cifar100C::load(const Facts& facts, const json::object& options, const std::string& device) {
  return CorruptedCifar::load(facts, kClasses, options, device);
}

}  // namespace hyfreedp::datasets
