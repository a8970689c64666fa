// NumPy's .npy files (numpy.lib.format, versions 1 to 3) of numbers: features of one's own, as
// numpy.save writes them, and the class of each row.
//
// Read are arrays in C order and little endian: float16, float32 and float64, and integers of 8 to
// 64 bits; images are bytes. Arrays of Python objects are refused; nothing in a file is executed.
#pragma once

#include <string>
#include <vector>

#include "datasets/formats/image_set.h"
#include "datasets/formats/number_table.h"
#include "datasets/image/archive.h"
#include "harness/base/result.h"

namespace hyfreedp::datasets {

// The rows of `features`, an array [n, p] of real numbers. `classes` is an array [n] of integers: a
// row is of class c where its number is labels[c]. Errors begin with the path of a file: no .npy
// file or a damaged one, another type, order or shape, no rows, more than 2^28 numbers (1 GiB), a
// feature that is not finite as a float, a label that is not among `labels`.
Result<NumberTable> read_npy(const std::string& features, const std::string& classes,
                             const std::vector<double>& labels);

// The images that are read, of two files: an array [n, h, w, 3] of bytes and the array [n] of their
// classes, 0 to classes - 1.
struct NpyImageFiles {
  std::string pixels;  // names of files, in any folder of `path`
  std::string labels;
  std::int64_t classes = 0;
  std::int64_t first = 0;  // number of the first image that is read
  std::int64_t count = 0;  // of images from there on; 0: all
};

// Reads these images of a folder or tar, as planes [count, 3, h, w]. Errors begin with the path of
// a file, and are those of read_npy and of visit_named_files: other types or shapes, other numbers
// of images than of classes, fewer images than asked for, a label that is no class.
Result<ImageSet> read_npy_images(const std::string& path, const NpyImageFiles& files,
                                 const ArchiveLimits& limits = {});

}  // namespace hyfreedp::datasets
