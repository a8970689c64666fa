// SVHN's cropped digits, format 2 (Netzer, Wang, Coates, Bissacco, Wu, Ng: Reading Digits in
// Natural Images with Unsupervised Feature Learning, NIPS Workshop 2011): train_32x32.mat,
// test_32x32.mat, extra_32x32.mat, each a MAT file of version 5 (mat5.h) with
//   X  [32, 32, 3, n]  pixels by row, column, channel and image
//   y  [n, 1]          classes 1 to 10; 10 is the digit 0
#pragma once

#include <cstdint>
#include <string>

#include "datasets/formats/image_set.h"
#include "harness/base/result.h"

namespace hyfreedp::datasets {

// The images of a file in their order, [n, 3, 32, 32]; a label is the digit, 0 to 9. Errors begin
// with `path`: those of read_mat5, other sizes, another number of labels than of images, a class
// that is none, more than `max_images` images (the largest file, extra, has 531,131).
Result<ImageSet> read_svhn(const std::string& path, std::int64_t max_images = 100'000);

// Both files of a folder, in it itself.
Result<ImageSplits> read_svhn_folder(const std::string& folder);

}  // namespace hyfreedp::datasets
