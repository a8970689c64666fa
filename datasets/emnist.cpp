#include "datasets/emnist.h"

#include "datasets/dataset.h"
#include "datasets/formats/named_files.h"

namespace hyfreedp::datasets {
namespace {

Result<ImageSet> images_of(IdxFile& pixels, IdxFile& labels, const EmnistSplit& split, std::int64_t count) {
  auto images = grey_images(std::move(pixels), std::move(labels),
                            {.count = count, .classes = split.classes, .first_label = split.first_label});
  if (images) transpose_planes(images->pixels, images->height);
  return images;
}

Result<ImageSplits> read_emnist(const std::string& path, const EmnistSplit& split) {
  std::vector<std::string> names;
  for (const char* part : {"train", "test"}) {
    for (const char* kind : {"images-idx3", "labels-idx1"}) {
      names.push_back(fmt::format("emnist-{}-{}-{}-ubyte.gz", split.name, part, kind));
    }
  }
  std::array<IdxFile, 4> files;
  const auto take = [&](std::size_t index, const std::string& where, std::string_view bytes) -> Result<void> {
    MemorySource packed(where, bytes);
    Inflated unpacked(packed, "it");
    auto array = read_idx(unpacked);
    if (!array) return array.error();
    files[index] = {.name = where, .array = std::move(*array)};
    return {};
  };
  if (auto visited = visit_named_files(path, names, take); !visited) return visited.error();
  auto training = images_of(files[0], files[1], split, split.train);
  if (!training) return training.error();
  auto testing = images_of(files[2], files[3], split, split.test);
  if (!testing) return testing.error();
  return ImageSplits{.train = std::move(*training), .test = std::move(*testing)};
}

}  // namespace

Result<Dataset> Emnist::load(const Facts& facts, const json::object& options, const std::string& device) {
  const auto files = locate_published(facts, options);
  if (!files) return files.error();
  const auto read = [&]() -> Result<ImageSplits> {
    if (auto checked = check_published(facts, *files, options); !checked) return checked.error();
    return read_emnist(files->path, split_of(options));
  };
  const IdxSource source{.all = all(options), .marks = files->marks, .divide = held_out_rows, .read = read};
  return load_grey_images(facts, source, options, device);
}

}  // namespace hyfreedp::datasets
