#include "datasets/image_folder.h"

#include <fmt/format.h>

#include "datasets/cache_file.h"
#include "datasets/image/decode.h"
#include "datasets/image_tables.h"
#include "datasets/own/own_files.h"

namespace hyfreedp::datasets {

Result<Dataset> ImageFolderDataset::load(const Facts& facts, const json::object& options,
                                         const std::string& device) {
  const auto path = locate_own_files(own_path(options));
  if (!path) return path.error();
  const auto mark = mark_of(options, *path);
  if (!mark) return mark.error();
  const auto n = sizes(options);
  const auto read = [&](const TakeImage& take) -> Result<void> {
    if (const auto same = with_checksum(options, *path); !same) return same.error();
    const auto images = place_images(*path, options);
    if (!images) return images.error();
    const auto classes = static_cast<std::int64_t>(images->folder.classes.size());
    if (classes != n.classes)
      return error(fmt::format("{}: has {} classes, not {}.", *path, classes, n.classes));
    const auto& places = images->division.places;
    const auto wanted = [&places](const std::string& name) { return places.contains(name); };
    ErrorList broken;
    const auto visit = [&](const std::string& name, std::string_view bytes) -> Result<void> {
      auto image = decode_image(bytes, name);
      if (!image) broken.add(in_context(*path, image.error()));
      // Once one is broken the others are only looked at.
      return broken.empty() ? take(places.at(name), std::move(*image)) : Result<void>();
    };
    if (auto visited = visit_files(*path, wanted, visit); !visited) return visited;
    return broken.result();
  };
  const auto identity = image_identity(facts.name, json::value(*mark));
  return load_images({.identity = identity, .sizes = n, .read = read}, options, device);
}

}  // namespace hyfreedp::datasets
