#include "datasets/image_folder_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <set>

#include "datasets/image/decode.h"
#include "datasets/image_folder.h"
#include "datasets/own/content_marks.h"
#include "datasets/own/parts.h"
#include "harness/base/option_lines.h"
#include "harness/base/text.h"
#include "harness/random/stream.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::uint64_t kHeldOut = 10;  // one file in so many, on average

// SHA-256 of a purpose and the file's name, without the folder around all: a folder and its tar are
// divided alike.
std::array<unsigned char, 32> digest(const char* purpose, std::string_view name) {
  return random::key_from_seed(fmt::format("dataset image-folder, version 1, {}, {}", purpose, name)).bytes;
}
bool is_held_out(const char* purpose, std::string_view name) {
  const auto bytes = digest(purpose, name);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) value = value << 8U | bytes[i];
  return value < ~std::uint64_t{0} / kHeldOut;
}

struct Pools {
  std::vector<const ImageFile*> train;
  std::vector<const ImageFile*> validation;
  std::vector<const ImageFile*> test;
};

// Which pool a file is in depends on its own name alone. Each in the order of digests, so that the
// first ones are any.
Pools pools_of(const ImageFolder& folder) {
  std::vector<std::pair<std::array<unsigned char, 32>, const ImageFile*>> all;
  all.reserve(folder.files.size());
  bool has_test = false, has_validation = false;
  const auto inner = [&folder](const ImageFile& file) {
    return std::string_view(file.name).substr(folder.wrapping.size());
  };
  for (const auto& file : folder.files) {
    all.emplace_back(digest("order", inner(file)), &file);
    has_test = has_test || file.split == ImageSplit::test;
    has_validation = has_validation || file.split == ImageSplit::validation;
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Pools pools;
  for (const auto& [order, file] : all) {
    const bool own_validation = file->split == ImageSplit::validation;
    const bool is_test =
        has_test ? file->split == ImageSplit::test : !own_validation && is_held_out("test", inner(*file));
    if (is_test) {
      pools.test.push_back(file);
    } else {
      const bool validates = has_validation ? own_validation : is_held_out("validation", inner(*file));
      (validates ? pools.validation : pools.train).push_back(file);
    }
  }
  return pools;
}

}  // namespace

Result<ImageDivision> divide_images(const ImageFolder& folder, const json::object& options) {
  const auto pools = pools_of(folder);
  ImageDivision division;
  const auto n = read_options<CountOptions>(options);
  for (const auto& [name, split, pool, asked, count] :
       {std::tuple{"train", Split::private_train, &pools.train, n.train, &division.train},
        {"validation", Split::private_validation, &pools.validation, n.validation, &division.validation},
        {"test", Split::test, &pools.test, n.test, &division.test}}) {
    const auto size = std::ssize(*pool);
    *count = asked.value_or(size);
    if (*count > size) {
      return error(fmt::format("{} asks for {} images, but there are {} of that part.", name, *count, size));
    }
    // A shift set asks for its test images alone (test_alone).
    if (*count < 1 && asked != 0) {
      return error(
          fmt::format("{} images are too few: none is in the part for {}.", folder.files.size(), name));
    }
    for (std::int64_t row = 0; row < *count; ++row) {
      const auto* file = (*pool)[static_cast<std::size_t>(row)];
      division.places[file->name] = {.split = split, .row = row, .label = file->label};
    }
  }
  return division;
}

Result<PlacedImages> place_images(const std::string& path, const json::object& options, std::size_t most) {
  ErrorList problems;
  auto folder = read_image_folder(path, problems);
  if (!folder) {
    problems.add(folder.error());
    return problems.error();
  }
  if (folder->files.empty() && !problems.empty()) return problems.error();
  auto division = divide_images(*folder, options);
  if (!division) {
    problems.add(in_context(path, division.error()));
    return problems.error();
  }
  PlacedImages images{.folder = std::move(*folder), .division = std::move(*division)};
  for (const auto& [name, why] : images.folder.heads.broken) {
    if (images.division.places.contains(name)) problems.add(in_context(path, error(why)));
  }
  if (problems.empty()) return images;
  check_images(path, images, problems, most);
  return problems.error();
}

void check_images(const std::string& path, const PlacedImages& images, ErrorList& problems,
                  std::size_t most) {
  const auto wanted = [&](const std::string& name) {
    // Those that do not begin as images were named when they were placed.
    const bool is_looked_at =
        most > 0 && images.division.places.contains(name) && !images.folder.heads.broken.contains(name);
    if (is_looked_at) --most;
    return is_looked_at ? FilePart::whole : FilePart::none;
  };
  const auto visit = [&](const std::string& name, std::string_view bytes) -> Result<void> {
    if (const auto image = decode_image(bytes, name); !image) problems.add(in_context(path, image.error()));
    return {};
  };
  const auto unread = [&](const std::string& name, const Error& why) {
    if (images.division.places.contains(name)) problems.add(why);
  };
  if (auto visited = visit_parts(path, wanted, visit, unread); !visited) problems.add(visited.error());
}

namespace {

constexpr std::size_t kShown = 5;

// Folders of a class's place without any image, sorted; of an archive, which may not name its
// folders, none.
std::vector<std::string> empty_folders(const std::string& path, const ImageFolder& folder) {
  namespace fs = std::filesystem;
  std::set<std::string> parents, filled;  // that classes lie in, and the classes' own
  for (const auto& file : folder.files) {
    const auto place = fs::path(file.name).parent_path();
    // A table has the classes.
    const bool is_flat = file.split == ImageSplit::test && place.filename() == "test";
    if (!is_flat) parents.insert(place.parent_path().string());
    if (!is_flat) filled.insert(place.string());
  }
  std::vector<std::string> empty;
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return empty;
  for (const auto& parent : parents) {
    for (const auto& entry : fs::directory_iterator(fs::path(path) / parent, ignored)) {
      const auto name = (fs::path(parent) / entry.path().filename()).generic_string();
      const bool is_hidden = entry.path().filename().string().starts_with('.');
      if (!is_hidden && entry.is_directory(ignored) && !filled.contains(name)) empty.push_back(name);
    }
  }
  std::ranges::sort(empty);
  return empty;
}

// Classes that a test image could be of and none is.
std::vector<std::string> untested_classes(const PlacedImages& images) {
  std::set<std::int64_t> tested;
  for (const auto& [name, place] : images.division.places) {
    if (place.split == Split::test) tested.insert(place.label);
  }
  std::vector<std::string> missing;
  for (std::size_t c = 0; c < images.folder.classes.size(); ++c) {
    if (!tested.contains(static_cast<std::int64_t>(c))) missing.push_back(images.folder.classes[c]);
  }
  return missing;
}

// Returns what the owner of the images should know of them, a sentence each.
std::vector<std::string> notes_on(const std::string& path, const PlacedImages& placed) {
  const auto& folder = placed.folder;
  const auto images = folder.files.size(), unnamed = folder.heads.images.size();
  std::vector<std::string> notes;
  if (unnamed > 0 || !folder.left_out.empty()) {
    auto note = fmt::format("{}: {} images are read", path, images);
    if (unnamed > 0) note += fmt::format(", {} of them by what they contain, not by their names", unnamed);
    if (!folder.left_out.empty()) {
      note += fmt::format(
          "; left out {}: {}",
          folder.left_out.size() == 1
              ? "is 1 file that is no JPEG, PNG or PPM, or hidden"
              : fmt::format("are {} files that are no JPEG, PNG or PPM, or hidden", folder.left_out.size()),
          first_of(folder.left_out, kShown));
    }
    notes.push_back(note);
  }
  for (const auto& joined : folder.joined) notes.push_back(fmt::format("{}: {}", path, joined));
  if (const auto empty = empty_folders(path, folder); !empty.empty()) {
    notes.push_back(empty.size() == 1
                        ? fmt::format("{}: the folder {} has no image, so it is no class", path, empty[0])
                        : fmt::format("{}: the folders {} have no image, so they are no classes", path,
                                      first_of(empty, kShown)));
  }
  if (auto missing = untested_classes(placed); !missing.empty())
    notes.push_back(untested_note(path, "image", std::move(missing)));
  if (folder.heads.turned > 0) {
    notes.push_back(fmt::format(
        "{}: of {} of {} images EXIF says that they are to be turned or mirrored; this is ignored, "
        "as torchvision's ImageFolder ignores it. ImageMagick turns them: `mogrify -auto-orient "
        "FILE`",
        path, folder.heads.turned, images));
  }
  return notes;
}

}  // namespace

Result<std::vector<std::string>> class_names(const json::object& options) {
  const auto path = locate_own_files(own_path(options));
  if (!path) return std::vector<std::string>();
  auto folder = read_image_folder(*path);
  if (!folder) return folder.error();
  return std::move(folder->classes);
}

Result<void> check_same_classes(const json::object& options, const json::object& other) {
  const auto here = class_names(options), there = class_names(other);
  if (!here) return here.error();
  if (!there) return there.error();
  for (std::size_t c = 0; c < std::min(here->size(), there->size()); ++c) {
    if (is_same_class((*here)[c], (*there)[c])) continue;
    return error(fmt::format("its class {} is '{}', and that of {} is '{}'; give the folders the same names.",
                             c, (*here)[c], own_path(other), (*there)[c]));
  }
  return {};
}

Result<json::object> ImageFolderDataset::complete(json::object options, Notes& notes) {
  const auto given = own_path(options);
  if (given.empty()) return error("needs 'path', a folder or archive with one folder of images a class.");
  const auto path = locate_own_files(given);
  if (!path) {
    const auto planned = check_sizes_given(path.error(), options, {"train", "validation", "test", "classes"});
    return planned ? complete_image_options(std::move(options)) : planned.error();
  }
  const auto images = place_images(*path, options);
  if (!images) return images.error();
  const auto& [folder, division] = *images;
  const auto by_content = static_cast<std::int64_t>(folder.heads.images.size());
  const auto classes = static_cast<std::int64_t>(folder.classes.size());
  if (const auto before = read_options<ImageFolderOptions>(options).classes.value_or(classes);
      before != classes) {
    return error(fmt::format("{}: has {} classes, not {}.", *path, classes, before));
  }
  options["train"] = division.train;
  options["validation"] = division.validation;
  options["test"] = division.test;
  options["classes"] = classes;
  if (by_content > 0) options["by_content"] = by_content;
  auto marked = with_checksum(std::move(options), *path);
  if (!marked) return marked;
  if (auto kept = keep_content(*marked, *path, folder); !kept) return kept.error();
  for (auto& note : notes_on(*path, *images)) notes.push_back(std::move(note));
  return complete_image_options(std::move(*marked));
}

Result<void> ImageFolderDataset::check(const json::object& options) {
  const auto path = locate_own_files(own_path(options));
  if (!path) return path.error();
  const auto images = place_images(*path, options, std::numeric_limits<std::size_t>::max());
  if (!images) return images.error();
  ErrorList problems;
  check_images(*path, *images, problems);
  return problems.result();
}

}  // namespace hyfreedp::datasets
