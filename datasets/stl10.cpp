#include "datasets/stl10.h"

#include <array>

#include "datasets/dataset.h"
#include "datasets/formats/stl10.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::int64_t kLeftOut = -1;

// airplane, bird, car, cat, deer, dog, horse, monkey, ship, truck by the numbers of CIFAR-10:
// airplane 0, automobile 1, bird 2, cat 3, deer 4, dog 5, frog 6, horse 7, ship 8, truck 9.
constexpr std::array<std::int64_t, 10> kCifar10 = {0, 2, 1, 3, 4, 5, 7, kLeftOut, 8, 9};

ImageSet with_cifar10_labels(const ImageSet& all) {
  ImageSet images{
      .channels = all.channels, .height = all.height, .width = all.width, .pixels = {}, .labels = {}};
  const auto size = all.channels * all.height * all.width;
  for (std::int64_t i = 0; i < all.count; ++i) {
    const auto label = kCifar10.at(static_cast<std::size_t>(all.labels[static_cast<std::size_t>(i)]));
    if (label == kLeftOut) continue;
    const auto begin = all.pixels.begin() + i * size;
    images.pixels.insert(images.pixels.end(), begin, begin + size);
    images.labels.push_back(label);
    ++images.count;
  }
  return images;
}

}  // namespace

Result<Dataset> Stl10::load(const Facts& facts, const json::object& options, const std::string& device) {
  const auto read = [&](const std::string& path) -> Result<ImageSplits> {
    auto images = read_stl10(path);
    if (!images || !as_cifar10(options)) return images;
    return ImageSplits{.train = with_cifar10_labels(images->train),
                       .test = with_cifar10_labels(images->test)};
  };
  return load_published_images(facts, all(options), read, options, device);
}

}  // namespace hyfreedp::datasets
