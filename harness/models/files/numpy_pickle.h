// Reads NumPy arrays that Python's pickle wrote, without executing anything (pickle.h). LibTorch is
// not needed.
//
//   content       dicts, lists and tuples with arrays in them, at most 8 deep: {"conv1": [kernel,
//                 bias], ..}. What is neither (a number, a text) is left out
//   names         the way to the array, joined by dots: "conv1.0" and "conv1.1"; of an array that
//                 is the whole file ""
//   protocols     2 to 4 as Python 3 writes them where no text stands for the arrays' bytes; arrays
//                 of NumPy 1 and 2
//   types         float64, float32, float16, int64, int32, int16, int8, uint8, bool; little endian
//   order         C, or Fortran, which is copied
// Arrays in C order are parts of the file, or of a copy of their bytes where these lie at an
// address that does not suit every type.
//
// Refused, by an error that names the array, function or opcode: every other function or opcode;
// big-endian and structured types, and objects; an array whose shape does not have exactly the
// bytes that are there; names that are no text or longer than 1000 bytes; more than 200,000 items
// of lists and dicts, each counted as often as it is mentioned; a list that holds itself; copies of
// more than twice the file's size, where copies for alignment, together no larger than the file,
// are not counted; anything behind the pickle. Memory is taken after these checks.
#pragma once

#include "harness/models/files/strided_view.h"

namespace hyfreedp::models {

Result<StoredTensors> read_numpy_pickle(const std::string& path);
// The same of a file that lies in memory. `where` begins every error.
Result<StoredTensors> parse_numpy_pickle(const SharedBytes& file, const std::string& where);

}  // namespace hyfreedp::models
