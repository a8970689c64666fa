// Arrays of numbers, as files of precomputed features have them, and the table that two of them
// make: features, and the class of each row.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/formats/number_table.h"
#include "harness/base/mapped_file.h"
#include "harness/base/result.h"

namespace hyfreedp::datasets {

struct NumberArray {
  std::string where;  // the file, and which of its arrays: begins every error
  // f2, f4, f8; b2, bfloat16; i1 to i8 and u1 to u8: kind and bytes. Others are refused by name.
  std::string type;
  std::vector<std::int64_t> shape;
  SharedBytes values;  // in C order, little endian; as many as type and shape say
};

// The rows of `features`, [n, p] of real numbers. `classes` is [n] of integers: a row is of class c
// where its number is labels[c]. Errors: another type or shape, no rows, a feature that is not
// finite as a float, a label that is not among `labels`.
Result<NumberTable> table_of(const NumberArray& features, const NumberArray& classes,
                             const std::vector<double>& labels);

// The class of each row, of which `array` has the label.
Result<std::vector<std::int64_t>> classes_of(const NumberArray& array, const std::vector<double>& labels);

// The product of the lengths. Errors: a length below 1, and more than 2^28 numbers (1 GiB as
// floats).
Result<std::int64_t> count_of(const NumberArray& array);

}  // namespace hyfreedp::datasets
