// Arrays of whole numbers from 0 to 255 in MATLAB's MAT files of version 5 (what MATLAB's
// save -v6 and -v7 write; MathWorks: MAT-File Format, "MAT-File Level 5").
//
//   bytes 0-127  text, the version 0x0100 and the letters IM, little-endian
//   then         elements: type (4 bytes), number of bytes (4), bytes. A type 14 is a matrix, a
//                type 15 one that zlib has packed
//   matrix       elements again: flags, sizes, name, values, each padded to 8 bytes; one of at most
//                4 bytes may have its length beside its type. Values are column-major, the first
//                index fastest
//
// Read by hand, without a library: libmatio 1.5.23 takes 790 MB for a damaged file of 300 bytes
// before it hands anything out, and brings HDF5 with it.
//
// Refused, with the way out: big-endian files, version 7.3 (HDF5), version 4; and of the arrays
// that are wanted cells, structures, characters, sparse and complex ones. Others are passed over.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp::datasets {

struct MatWanted {
  std::string name;
  std::uint64_t max_values = 0;  // more are an error, before memory is taken
};

struct MatArray {
  std::vector<std::int64_t> sizes;   // 2 to 8 of them
  std::vector<std::uint8_t> values;  // the first index fastest
};

// The arrays of these names, in their order. Errors begin with `path` and name the array: what is
// refused above; an array that is not there, or there twice; sizes whose product is not the number
// of values; a value that is no whole number from 0 to 255; a file that is damaged or cut short.
Result<std::vector<MatArray>> read_mat5(const std::string& path, const std::vector<MatWanted>& wanted);

}  // namespace hyfreedp::datasets
