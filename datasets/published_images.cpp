#include "datasets/published_images.h"

#include <fmt/format.h>

#include "datasets/cache_file.h"
#include "datasets/image_tables.h"
#include "datasets/published_files.h"

namespace hyfreedp::datasets {
namespace {

Image image_of(const ImageSet& set, std::int64_t at) {
  Image image{.height = set.height, .width = set.width, .pixels = {}};
  const auto places = set.height * set.width;
  image.pixels.resize(static_cast<std::size_t>(places * set.channels));
  const auto* planes = set.pixels.data() + at * places * set.channels;
  for (std::int64_t c = 0; c < set.channels; ++c) {
    for (std::int64_t i = 0; i < places; ++i) {
      image.pixels[static_cast<std::size_t>(i * set.channels + c)] = planes[c * places + i];
    }
  }
  return image;
}

struct Part {
  Split split;
  const ImageSet& images;
  std::vector<std::int64_t> rows;  // of `images`
};

std::vector<Part> parts_of(const std::string& dataset, const ImageSplits& images, const Sizes& all,
                           const Sizes& n) {
  auto rows = held_out_rows(dataset, all, n);
  return {{Split::private_train, images.train, std::move(rows.train)},
          {Split::private_validation, images.train, std::move(rows.validation)},
          {Split::test, images.test, std::move(rows.test)}};
}

Result<void> take_all(const std::vector<Part>& parts, const TakeImage& take) {
  for (const auto& part : parts) {
    for (std::size_t row = 0; row < part.rows.size(); ++row) {
      const auto at = part.rows[row];
      const ImagePlace place{.split = part.split,
                             .row = static_cast<std::int64_t>(row),
                             .label = part.images.labels[static_cast<std::size_t>(at)]};
      if (auto done = take(place, image_of(part.images, at)); !done) return done;
    }
  }
  return {};
}

}  // namespace

Result<Dataset> load_published_images(const Facts& facts, const Sizes& all, const ReadImages& read,
                                      const json::object& options, const std::string& device) {
  const auto place = locate_published(facts, options);
  if (!place) return place.error();
  const auto n = published_image_sizes(all, options);
  const auto read_all = [&](const TakeImage& take) -> Result<void> {
    if (auto checked = check_published(facts, *place, options); !checked) return checked;
    const auto images = read(place->path);
    if (!images) return images.error();
    const auto of_files = sizes_of_copy(all, options, *images);
    if (!of_files) return in_context(place->path, of_files.error());
    return take_all(parts_of(facts.name, *images, *of_files, n), take);
  };
  const auto identity = image_identity(facts.name, place->marks);
  return load_images({.identity = identity, .sizes = n, .read = read_all}, options, device);
}

}  // namespace hyfreedp::datasets
