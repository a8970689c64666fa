#include "datasets/published_images.h"

#include <fmt/format.h>
#include <set>

#include "datasets/cache_file.h"
#include "datasets/image_tables.h"
#include "datasets/own_files.h"

namespace hyfreedp::datasets {
namespace {

struct Place {
  std::string path;    // of the files, or of the only one
  std::string folder;  // in which the published ones lie; empty: the user's own
  json::array checksums;
};

// Where the images are, and what they are known by.
Result<Place> place_of(const Facts& facts, const json::object& options) {
  if (const auto own = string_or(options, "path", ""); !own.empty()) {
    const auto path = locate_own_files(own);
    if (!path) return path.error();
    const auto mark = mark_of(options, *path);
    if (!mark) return mark.error();
    return Place{.path = *path, .folder = "", .checksums = {json::value(*mark)}};
  }
  const auto folder = locate(facts);
  if (!folder) return folder.error();
  const auto only = facts.files.size() == 1 ? "/" + facts.files.front().name : std::string();
  return Place{.path = *folder + only, .folder = *folder, .checksums = checksums(facts)};
}

Result<void> check_files(const Facts& facts, const Place& place, const json::object& options) {
  if (!place.folder.empty()) return verify_files(facts, place.folder);
  const auto same = with_checksum(options, place.path);
  return same ? Result<void>() : same.error();
}

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

// Rows of `all`, of which `wanted` are taken.
std::vector<std::int64_t> taken(const std::string& dataset, Split split, const std::vector<std::int64_t>& all,
                                std::int64_t wanted) {
  std::vector<std::int64_t> rows;
  for (const auto at : keyed_subset(dataset, split, static_cast<std::int64_t>(all.size()), wanted)) {
    rows.push_back(all[static_cast<std::size_t>(at)]);
  }
  return rows;
}

std::vector<Part> parts_of(const std::string& dataset, const ImageSplits& images, const Sizes& all,
                           const Sizes& n) {
  const auto held_out = keyed_subset(dataset + ", held out", Split::private_validation, images.train.count,
                                     all.private_validation);
  const std::set<std::int64_t> validation(held_out.begin(), held_out.end());
  std::vector<std::int64_t> train;
  for (std::int64_t row = 0; row < images.train.count; ++row) {
    if (!validation.contains(row)) train.push_back(row);
  }
  return {{Split::private_train, images.train, taken(dataset, Split::private_train, train, n.private_train)},
          {Split::private_validation, images.train,
           taken(dataset, Split::private_validation, held_out, n.private_validation)},
          {Split::test, images.test, keyed_subset(dataset, Split::test, images.test.count, n.test)}};
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

Result<Dataset> load_published_images(const Facts& facts, const Sizes& all, ReadImages read,
                                      const json::object& options, const std::string& device) {
  const auto place = place_of(facts, options);
  if (!place) return place.error();
  const auto n = published_image_sizes(all, options);
  const auto read_all = [&](const TakeImage& take) -> Result<void> {
    if (auto checked = check_files(facts, *place, options); !checked) return checked;
    const auto images = read(place->path);
    if (!images) return images.error();
    const auto training = all.private_train + all.private_validation;
    if (images->train.count != training || images->test.count != all.test) {
      return error(fmt::format("{}: has {} training and {} test images; {} and {} are published.",
                               place->path, images->train.count, images->test.count, training, all.test));
    }
    return take_all(parts_of(facts.name, *images, all, n), take);
  };
  const auto identity = image_identity(facts.name, place->checksums);
  return load_images({.identity = identity, .sizes = n, .read = read_all}, options, device);
}

}  // namespace hyfreedp::datasets
