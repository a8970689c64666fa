// What the datasets share that are published like MNIST: 60,000 + 10,000 grey 28 x 28 images in 10
// classes, in four gzipped IDX files. Such a dataset (mnist.h) has its facts.
//
// private_train is the first 50,000 images of the training file, private_validation its last
// 10,000, test the test file; a spec may ask for fewer of each. The source files' checksums are
// verified when the feature cache is made, and not at each start.
#pragma once

#include <array>
#include <string>

#include "datasets/image_options.h"
#include "datasets/subset.h"

namespace hyfreedp::datasets {

// In the order of Facts::files.
inline constexpr std::array kIdxFiles = {"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz",
                                         "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"};

// The sizes of the files.
Sizes all_idx_images();
Sizes idx_image_sizes(const json::object& options);
// `facts` with the files, whose SHA-256 are `checksums`, the shared options and their completion.
Facts with_idx_images(Facts facts, const std::array<const char*, 4>& checksums);
// Errors: files that are not here, or not the published ones.
Result<Dataset> load_idx_images(const Facts& facts, const json::object& options, const std::string& device);

}  // namespace hyfreedp::datasets
