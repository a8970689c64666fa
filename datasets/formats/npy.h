// NumPy's .npy files (numpy.lib.format, versions 1 to 3) of numbers: features of one's own, as
// numpy.save writes them, and the class of each row.
//
// Read are arrays in C order and little endian: float16, float32 and float64, and integers of 8 to
// 64 bits. Arrays of Python objects are refused; nothing in a file is executed.
#pragma once

#include <string>
#include <vector>

#include "datasets/formats/number_table.h"
#include "harness/base/result.h"

namespace hyfreedp::datasets {

// The rows of `features`, an array [n, p] of real numbers. `classes` is an array [n] of integers: a
// row is of class c where its number is labels[c]. Errors begin with the path of a file: no .npy
// file or a damaged one, another type, order or shape, no rows, more than 2^28 numbers (1 GiB), a
// feature that is not finite as a float, a label that is not among `labels`.
Result<NumberTable> read_npy(const std::string& features, const std::string& classes,
                             const std::vector<double>& labels);

}  // namespace hyfreedp::datasets
