#include "datasets/image_folder_files.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "datasets/image_folder.h"
#include "harness/base/option_lines.h"
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
  bool has_test = false;
  const auto inner = [&folder](const ImageFile& file) {
    return std::string_view(file.name).substr(folder.wrapping.size());
  };
  for (const auto& file : folder.files) {
    all.emplace_back(digest("order", inner(file)), &file);
    has_test = has_test || file.split == ImageSplit::test;
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Pools pools;
  for (const auto& [order, file] : all) {
    const bool is_test = has_test ? file->split == ImageSplit::test : is_held_out("test", inner(*file));
    if (is_test) {
      pools.test.push_back(file);
    } else {
      (is_held_out("validation", inner(*file)) ? pools.validation : pools.train).push_back(file);
    }
  }
  return pools;
}

}  // namespace

Result<ImageDivision> divide_images(const ImageFolder& folder, const json::object& options) {
  const auto pools = pools_of(folder);
  ImageDivision division;
  for (const auto& [name, split, pool, count] :
       {std::tuple{"train", Split::private_train, &pools.train, &division.train},
        {"validation", Split::private_validation, &pools.validation, &division.validation},
        {"test", Split::test, &pools.test, &division.test}}) {
    const auto size = static_cast<std::int64_t>(pool->size());
    *count = int_or(options, name, size);
    if (*count > size) {
      return error(fmt::format("{} asks for {} images, but there are {} of that part.", name, *count, size));
    }
    // A shift set asks for its test images alone (test_alone).
    if (*count < 1 && int_or(options, name, 1) > 0) {
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

Result<void> check_same_classes(const json::object& options, const json::object& other) {
  std::array<std::vector<std::string>, 2> classes;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const auto path = locate_own_files(string_or(i == 0 ? options : other, "path", ""));
    if (!path) return {};
    auto folder = read_image_folder(*path);
    if (!folder) return folder.error();
    classes[i] = std::move(folder->classes);
  }
  for (std::size_t c = 0; c < std::min(classes[0].size(), classes[1].size()); ++c) {
    if (classes[0][c] == classes[1][c]) continue;
    return error(fmt::format("its class {} is '{}', and that of {} is '{}'; give the folders the same names.",
                             c, classes[0][c], string_or(other, "path", ""), classes[1][c]));
  }
  return {};
}

Result<json::object> ImageFolderDataset::complete(json::object options, Notes& /*notes*/) {
  const auto given = string_or(options, "path", "");
  if (given.empty()) return error("needs 'path', a folder or archive with one folder of images a class.");
  const auto path = locate_own_files(given);
  if (!path) {
    const auto has = [&options](const char* name) { return int_or(options, name, -1) >= 0; };
    if (has("train") && has("validation") && has("test") && has("classes")) {
      return complete_image_options(std::move(options));
    }
    return error(path.error().message +
                 " Without it a spec must give train, validation, test and classes itself.");
  }
  const auto folder = read_image_folder(*path);
  if (!folder) return folder.error();
  const auto division = divide_images(*folder, options);
  if (!division) return in_context(*path, division.error());
  const auto classes = static_cast<std::int64_t>(folder->classes.size());
  if (const auto before = int_or(options, "classes", classes); before != classes) {
    return error(fmt::format("{}: has {} classes, not {}.", *path, classes, before));
  }
  options["train"] = division->train;
  options["validation"] = division->validation;
  options["test"] = division->test;
  options["classes"] = classes;
  auto marked = with_checksum(std::move(options), *path);
  return marked ? complete_image_options(std::move(*marked)) : marked;
}

}  // namespace hyfreedp::datasets
