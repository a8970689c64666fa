// Sizes, splits and loading of the datasets that are published like MNIST: grey 28 x 28 images in
// classes, in gzipped IDX files. Such a dataset (mnist.h, emnist.h) has its facts.
//
// In MNIST and those published in four files of the same names and sizes, private_train is the
// first 50,000 images of the training file, private_validation its last 10,000, test the test
// file. A spec may ask for fewer of each split. The source files' checksums are verified when the
// feature cache is made, and not at each start.
#pragma once

#include <array>
#include <functional>
#include <string>

#include "datasets/formats/idx.h"
#include "datasets/formats/image_set.h"
#include "datasets/image_options.h"
#include "datasets/subset.h"

namespace hyfreedp::datasets {

// In the order of Facts::files.
inline constexpr std::array kIdxFiles = {"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz",
                                         "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"};

struct GreyImageOptions {
  ImageOptions image{.features = ImageFeatures::hog};
  static constexpr std::array kInlined = {"image"};
};
BOOST_DESCRIBE_STRUCT(GreyImageOptions, (), (image))

// The sizes of these files.
Sizes all_idx_images();
// `all`: the sizes of the files.
Sizes idx_image_sizes(const Sizes& all, const json::object& options);
// `facts` with the shared options; `counts`: those of count_options().
Facts with_idx_options(Facts facts, const std::vector<OptionSpec>& counts);
// `facts` of a dataset in the four files, whose SHA-256 are `checksums`, with the shared options
// and their completion.
Facts with_idx_images(Facts facts, const std::array<const char*, 4>& checksums);

// An array and the file that it is from, for errors.
struct IdxFile {
  std::string name;
  IdxArray array;
};
struct IdxContent {
  std::int64_t count = 0;
  std::int64_t classes = 0;
  int first_label = 0;  // of class 0 in the file
};
// [count, 1, 28, 28]. Errors: other sizes, and labels of no class.
Result<ImageSet> grey_images(IdxFile pixels, IdxFile labels, const IdxContent& expected);

// The images of one dataset.
struct IdxSource {
  Sizes all;          // of the files
  json::array marks;  // what they are known by: their checksums, or the mark of a user's own
  DividedRows (*divide)(const std::string& dataset, const Sizes& all, const Sizes& n) = nullptr;
  std::function<Result<ImageSplits>()> read;
};
// Errors: those of `read`.
Result<Dataset> load_grey_images(const Facts& facts, const IdxSource& source, const json::object& options,
                                 const std::string& device);
// The base of a dataset in the four files.
struct IdxImages {
  // Errors: files that are not here, or not the published ones.
  static Result<Dataset> load(const Facts& facts, const json::object& options, const std::string& device);
};

}  // namespace hyfreedp::datasets
