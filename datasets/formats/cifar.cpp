#include "datasets/formats/cifar.h"

#include <algorithm>
#include <fmt/format.h>
#include <span>
#include <utility>

#include "datasets/formats/named_files.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::int64_t kSide = 32;
constexpr std::size_t kPixels = 3 * kSide * kSide;

// One label byte of a record.
struct LabelByte {
  std::string_view name;
  int classes;
};

constexpr LabelByte kCifar10[] = {{"label", 10}};
constexpr LabelByte kCifar100[] = {{"coarse label", 20}, {"fine label", 100}};

std::span<const LabelByte> label_bytes(CifarLabels labels) {
  if (labels == CifarLabels::cifar10) return kCifar10;
  return kCifar100;
}

void append(ImageSet& images, ImageSet&& more) {
  if (images.count == 0) {
    images = std::move(more);
    return;
  }
  images.count += more.count;
  images.pixels.insert(images.pixels.end(), more.pixels.begin(), more.pixels.end());
  images.labels.insert(images.labels.end(), more.labels.begin(), more.labels.end());
}

}  // namespace

Result<ImageSet> parse_cifar(std::string_view bytes, const std::string& name, CifarLabels labels) {
  const auto fields = label_bytes(labels);
  const std::size_t chosen = labels == CifarLabels::cifar100_fine ? 1 : 0;
  const std::size_t record = fields.size() + kPixels;
  if (bytes.empty() || bytes.size() % record != 0) {
    return error(fmt::format(
        "{}: has {} bytes, not a whole number of records of {} bytes ({} of labels, 3 x 32 x 32 of "
        "pixels). Fetch it again.",
        name, bytes.size(), record, fields.size()));
  }
  const std::size_t count = bytes.size() / record;
  ImageSet images{.count = static_cast<std::int64_t>(count),
                  .channels = 3,
                  .height = kSide,
                  .width = kSide,
                  .pixels = std::vector<std::uint8_t>(count * kPixels),
                  .labels = std::vector<std::int64_t>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    const auto here = bytes.substr(i * record, record);
    for (std::size_t f = 0; f < fields.size(); ++f) {
      const auto label = static_cast<std::uint8_t>(here[f]);
      if (label >= fields[f].classes) {
        return error(fmt::format("{}: record {} has the {} {}; expected is 0 to {}. Fetch the file again.",
                                 name, i, fields[f].name, label, fields[f].classes - 1));
      }
      if (f == chosen) images.labels[i] = label;
    }
    std::copy(here.begin() + static_cast<std::ptrdiff_t>(fields.size()), here.end(),
              images.pixels.begin() + static_cast<std::ptrdiff_t>(i * kPixels));
  }
  return images;
}

Result<ImageSplits> read_cifar(const std::string& path, CifarLabels labels, const ArchiveLimits& limits) {
  std::vector<std::string> names = {"train.bin", "test.bin"};
  if (labels == CifarLabels::cifar10) {
    names = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
             "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"};
  }
  std::vector<ImageSet> batches(names.size());
  const auto take = [&](std::size_t index, const std::string& where, std::string_view bytes) -> Result<void> {
    auto batch = parse_cifar(bytes, where, labels);
    if (!batch) return batch.error();
    batches[index] = std::move(*batch);
    return {};
  };
  if (auto visited = visit_named_files(path, names, take, limits); !visited) return visited.error();
  ImageSplits splits;
  for (std::size_t i = 0; i + 1 < batches.size(); ++i) append(splits.train, std::exchange(batches[i], {}));
  splits.test = std::move(batches.back());
  return splits;
}

}  // namespace hyfreedp::datasets
