// Options, sizes, splits and loading that datasets share which are published as a training and a
// test part of colour images of one size. Such a dataset (cifar.h) has its facts and a reader.
//
// The published training images are divided by a fixed key into private_train and
// private_validation; a spec may ask for fewer records of each split (subset.h). With the option
// `path` the user's own copy is read, which is known by its mark (image_folder_files.h). It may
// have fewer images in the same files, which are counted when a spec is read: a keyed tenth of them
// is for validation, or what the spec's counts say. What is published as a test part alone has no
// training images.
#pragma once

#include <functional>

#include "datasets/formats/image_set.h"
#include "datasets/image_options.h"
#include "datasets/subset.h"

namespace hyfreedp::datasets {

// Reads a folder or file, as the dataset is published.
using ReadImages = std::function<Result<ImageSplits>(const std::string& path)>;

// `facts` with the shared options. `all`: the sizes of the published files, with `image` where the
// images are to have another side than 32 by default.
Facts with_published_images(Facts facts, const Sizes& all);
// Facts::complete of these. An own copy is read, and counted, unless its files have the sizes of
// `supply`.
Result<json::object> complete_published_images(json::object options, const Supply& supply, const Sizes& all,
                                               const ReadImages& read, Notes& notes);
// `all` for a copy with so many images: itself for the published numbers. Errors: more images than
// are published, and counts that ask for more than there are.
Result<Sizes> sizes_of_copy(Sizes all, const json::object& options, const ImageSplits& images);
Sizes published_image_sizes(const Sizes& all, const json::object& options);

// Errors: files that are not here, not the published ones, or have other numbers of images.
Result<Dataset> load_published_images(const Facts& facts, const Sizes& all, const ReadImages& read,
                                      const json::object& options, const std::string& device);

// The base of the dataset `Set`, which has its facts and two functions of the resolved options:
// all(), the sizes of the published files, and reader(), which gives ReadImages.
template <class Set>
struct PublishedImages {
  // `facts` with what follows from these.
  static Facts published(Facts facts) {
    facts.sizes = sizes;
    facts.complete = complete;
    return with_published_images(std::move(facts), Set::all({}));
  }
  static Sizes sizes(const json::object& options) {
    return published_image_sizes(Set::all(options), options);
  }
  static Result<json::object> complete(json::object options, Notes& notes) {
    const auto all = Set::all(options);
    if (auto fits = check_counts(all, options); !fits) return fits.error();
    const auto read = Set::reader(options);
    return complete_published_images(std::move(options), Set::facts().supply, all, read, notes);
  }
  // Result<Dataset>.
  static auto load(const Facts& facts, const json::object& options, const std::string& device) {
    return load_published_images(facts, Set::all(options), Set::reader(options), options, device);
  }
};

}  // namespace hyfreedp::datasets
