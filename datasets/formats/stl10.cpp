#include "datasets/formats/stl10.h"

#include <array>
#include <fmt/format.h>

#include "datasets/formats/named_files.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::int64_t kSide = 96;
constexpr std::size_t kPixels = 3 * kSide * kSide;
constexpr int kClasses = 10;

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

Result<ImageSet> parse_stl10(const Stl10File& pixels, const Stl10File& labels) {
  if (pixels.bytes.empty() || pixels.bytes.size() % kPixels != 0) {
    return error(fmt::format(
        "{}: has {} bytes, not a whole number of images of {} bytes (3 x 96 x 96). Fetch it again.",
        pixels.name, pixels.bytes.size(), kPixels));
  }
  const std::size_t count = pixels.bytes.size() / kPixels;
  if (labels.bytes.size() != count) {
    return error(fmt::format("{}: has {} labels, but {} has {} images. Fetch both again.", labels.name,
                             labels.bytes.size(), pixels.name, count));
  }
  ImageSet images{.count = static_cast<std::int64_t>(count),
                  .channels = 3,
                  .height = kSide,
                  .width = kSide,
                  .pixels = {},
                  .labels = std::vector<std::int64_t>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    const auto label = static_cast<std::uint8_t>(labels.bytes[i]);
    if (label < 1 || label > kClasses) {
      return error(fmt::format("{}: record {} has the label {}; expected is 1 to {}. Fetch the file again.",
                               labels.name, i, label, kClasses));
    }
    images.labels[i] = label - 1;
  }
  images.pixels.assign(pixels.bytes.begin(), pixels.bytes.end());
  transpose_planes(images.pixels, kSide);
  return images;
}

Result<ImageSplits> read_stl10(const std::string& path, Stl10Labels labels, const ArchiveLimits& limits) {
  const std::vector<std::string> names = {"train_X.bin", "train_y.bin", "test_X.bin", "test_y.bin"};
  struct Kept {
    std::string name;
    std::string bytes;
  };
  // Pixels may come before their labels or after them; whichever comes second makes the images.
  std::array<Kept, 4> kept;
  ImageSplits splits;
  const auto take = [&](std::size_t index, const std::string& where, std::string_view bytes) -> Result<void> {
    const Stl10File here{.name = where, .bytes = bytes};
    auto& other = kept[index ^ 1];
    if (other.name.empty()) {
      kept[index] = {.name = where, .bytes = std::string(bytes)};
      return {};
    }
    const Stl10File there{.name = other.name, .bytes = other.bytes};
    auto images = index % 2 == 0 ? parse_stl10(here, there) : parse_stl10(there, here);
    if (!images) return images.error();
    (index < 2 ? splits.train : splits.test) = std::move(*images);
    other = {.name = "done", .bytes = {}};
    return {};
  };
  if (auto visited = visit_named_files(path, names, take, limits); !visited) return visited.error();
  if (labels == Stl10Labels::cifar10) {
    for (auto* images : {&splits.train, &splits.test}) *images = with_cifar10_labels(*images);
  }
  return splits;
}

}  // namespace hyfreedp::datasets
