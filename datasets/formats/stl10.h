// STL-10 in its binary version (Coates, Lee, Ng: An Analysis of Single-Layer Networks in
// Unsupervised Feature Learning, AISTATS 2011; the format is described on the data set's page).
//
//   train_X.bin, test_X.bin   images, one after another, 27,648 bytes each: the red, the green and
//                             the blue plane, each 96 columns of 96 (column by column, as MATLAB
//                             stores a matrix)
//   train_y.bin, test_y.bin   a label byte for each image, 1 to 10
// The other files are passed over: unlabeled_X.bin (100,000 images), fold_indices.txt,
// class_names.txt.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <string_view>

#include "datasets/formats/image_set.h"
#include "datasets/image/archive.h"
#include "harness/base/result.h"

namespace hyfreedp::datasets {

struct Stl10File {
  std::string name;
  std::string_view bytes;
};

// The images of a pair of files in their order, [n, 3, 96, 96], rows from the top; labels 0 to 9.
// Errors begin with the file's name and say the record, counted from 0: no image, a part of one,
// another number of labels than of images, a label that is none.
Result<ImageSet> parse_stl10(const Stl10File& pixels, const Stl10File& labels);

// `cifar10`: the labels of CIFAR-10; the monkeys, which it has not, are left out.
enum class Stl10Labels { own, cifar10 };
BOOST_DESCRIBE_ENUM(Stl10Labels, own, cifar10)

// A folder that has the files, in it or in one folder of it, or the published tar.gz. Errors begin
// with `path`: those of visit_files and of parse_stl10, a file that is not there or there twice.
Result<ImageSplits> read_stl10(const std::string& path, Stl10Labels labels = Stl10Labels::own,
                               const ArchiveLimits& limits = {});

}  // namespace hyfreedp::datasets
