#include "datasets/image_folder.h"

#include <fmt/format.h>

#include "datasets/cache_file.h"
#include "datasets/image/decode.h"
#include "datasets/image_tables.h"
#include "datasets/own_files.h"

namespace hyfreedp::datasets {

Result<Dataset> ImageFolderDataset::load(const Facts& facts, const json::object& options,
                                         const std::string& device) {
  const auto path = locate_own_files(string_or(options, "path", ""));
  if (!path) return path.error();
  const auto mark = mark_of(options, *path);
  if (!mark) return mark.error();
  const auto n = sizes(options);
  const auto read = [&](const TakeImage& take) -> Result<void> {
    if (const auto same = with_checksum(options, *path); !same) return same.error();
    const auto folder = read_image_folder(*path);
    if (!folder) return folder.error();
    if (const auto classes = static_cast<std::int64_t>(folder->classes.size()); classes != n.classes) {
      return error(fmt::format("{}: has {} classes, not {}.", *path, classes, n.classes));
    }
    const auto division = divide_images(*folder, options);
    if (!division) return in_context(*path, division.error());
    const auto& places = division->places;
    const auto wanted = [&places](const std::string& name) { return places.contains(name); };
    const auto visit = [&](const std::string& name, std::string_view bytes) -> Result<void> {
      const auto image = decode_image(bytes, name);
      return image ? take(places.at(name), *image) : Result<void>(image.error());
    };
    return visit_files(*path, wanted, visit);
  };
  const auto identity = image_identity(facts.name, json::value(*mark));
  return load_images({.identity = identity, .sizes = n, .read = read}, options, device);
}

}  // namespace hyfreedp::datasets
