// What datasets share that are published as a training and a test part of colour images of one
// size: options, sizes, splits and loading. Such a dataset (cifar.h) has its facts and a reader.
//
// The published training images are divided by a fixed key into private_train and
// private_validation; a spec may ask for fewer records of each split (subset.h). With the option
// `path` the user's own copy is read, which is known by its mark (image_folder_files.h). What is
// published as a test part alone has no training images.
#pragma once

#include <functional>

#include "datasets/formats/image_set.h"
#include "datasets/image_options.h"
#include "datasets/subset.h"

namespace hyfreedp::datasets {

// `facts` with the shared options and their completion. `all`: the sizes of the published files,
// with `image` where the images are to have another side than 32 by default.
Facts with_published_images(Facts facts, const Sizes& all);
// Facts::complete of these, for datasets that first check options of their own.
Result<json::object> complete_published_images(json::object options);
Sizes published_image_sizes(const Sizes& all, const json::object& options);

// Reads a folder or file, as the dataset is published.
using ReadImages = std::function<Result<ImageSplits>(const std::string& path)>;
// Errors: files that are not here, not the published ones, or have other numbers of images.
Result<Dataset> load_published_images(const Facts& facts, const Sizes& all, const ReadImages& read,
                                      const json::object& options, const std::string& device);

}  // namespace hyfreedp::datasets
