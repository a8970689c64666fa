// Loads a dataset of colour images as bytes, or as the features that a frozen network gives,
// through the cache (cache.h). The images themselves are in no cache where features are: each is
// decoded, resized and passed through the network once.
//
// Preparation is that of image/resize.h: the shorter side to `side`, the middle square, and for the
// network (b / 255 - mean) / deviation. `feature_norm` scales each image's features by themselves.
// Where copies are asked for, a training image is replaced by random copies of what the network
// would take: moved by up to an eighth of the side each way, with the border mirrored, and mirrored
// left to right with probability 1/2. Features are computed in float32 on `device`; those of a
// GPU differ from a CPU's by rounding, and the cache has whichever were computed first.
#pragma once

#include <functional>
#include <torch/types.h>

#include "datasets/dataset.h"
#include "datasets/image/image.h"
#include "datasets/image_folder_files.h"

namespace hyfreedp::datasets {

// Takes one image and where it belongs. An error ends the reading.
using TakeImage = std::function<Result<void>(const ImagePlace& place, Image image)>;

struct ImageSource {
  // Says what the images are by the dataset's name and the checksums of its files. It is part of
  // the cache's name.
  json::object identity;
  Sizes sizes;
  // Hands over every image once, in any order.
  std::function<Result<void>(const TakeImage&)> read;
};

// `options`: those of image_options.h, completed.
Result<Dataset> load_images(const ImageSource& source, const json::object& options,
                            const std::string& device);

}  // namespace hyfreedp::datasets
