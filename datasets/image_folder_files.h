// A user's own folder or archive of images: which of its files is which row of which split, without
// LibTorch. The layouts are those of datasets/image/image_folder.h.
//
// The part of a file is decided by SHA-256 of its own name, without the folder around all, under a
// fixed prefix: no content and no other file moves it, but for the first one in test/ or val/.
// Where the folder has no test files, one in ten is in the test part; where it has, they are. Of
// the others one in ten is in the validation part, unless the folder has validation files. A spec
// may ask for the first so many of each part, in the order of another such digest. Files are
// counted when a spec is read; their numbers count as public from there on.
#pragma once

#include <array>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "datasets/facts.h"
#include "datasets/image/image_folder.h"

namespace hyfreedp::datasets {

struct ImagePlace {
  Split split = Split::private_train;
  std::int64_t row = 0;
  std::int64_t label = 0;

  bool operator==(const ImagePlace&) const = default;
};

using ImagePlaces = std::unordered_map<std::string, ImagePlace>;  // by a file's name

// The sizes of private_train, private_validation and test, and each file's place.
struct ImageDivision {
  std::int64_t train = 0;
  std::int64_t validation = 0;
  std::int64_t test = 0;
  ImagePlaces places;
};

// Errors: more files of a part asked for than there are, and a part that is empty.
Result<ImageDivision> divide_images(const ImageFolder& folder, const json::object& options);

// A folder's images and their places.
struct PlacedImages {
  ImageFolder folder;
  ImageDivision division;
};
// Those of `path`. Errors: those of read_image_folder and divide_images, and of each image that has
// a place and does not begin as one. If there is any of single files, the images are decoded too,
// the first `most`, so that all that are broken are named at once: of 10,000 it is a minute's work.
Result<PlacedImages> place_images(const std::string& path, const json::object& options,
                                  std::size_t most = 10'000);

// Decodes the images that have a place, and adds what is wrong with them to `problems`.
void check_images(const std::string& path, const PlacedImages& images, ErrorList& problems,
                  std::size_t most = std::numeric_limits<std::size_t>::max());

// The classes of the folder that the options name, in their order; empty where it is not here.
Result<std::vector<std::string>> class_names(const json::object& options);
// An error where both options' folders are here and their classes have other names, which would
// give the same number to different classes.
Result<void> check_same_classes(const json::object& options, const json::object& other);

}  // namespace hyfreedp::datasets
