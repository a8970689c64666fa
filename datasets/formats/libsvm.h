// LIBSVM's sparse text format (Chang, Lin: LIBSVM: A Library for Support Vector Machines, 2011; its
// README), gzipped or plain, as dense rows.
//
//   LABEL INDEX:VALUE INDEX:VALUE ...
// One example a line, parted by blanks or tabs. Indices begin at 1 and ascend; what is not named is
// 0. Numbers are decimal; a + may stand before them. What follows a # is a comment, as SVM-light
// has it, and a line of it alone is no example.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/formats/number_table.h"
#include "harness/base/result.h"

namespace hyfreedp::datasets {

// The public facts of a file; nothing of them is taken from it.
struct LibsvmShape {
  std::int64_t features = 0;   // p, at least 1: the largest index that is allowed
  std::vector<double> labels;  // class c is labels[c]; {-1, 1} for most files of two classes
  std::int64_t max_values = std::int64_t{1} << 28;  // of n * p: 1 GiB
};

// The examples in the file's order. Errors begin with FILE:LINE, a line for each that is wrong: a
// label that is not in the shape,
// an empty line, a field that is no INDEX:VALUE, an index beyond 1..p, one that is given twice or
// does not ascend, a value that is not finite as a float, more examples than max_values allows, no
// example at all.
Result<NumberTable> read_libsvm(const std::string& path, const LibsvmShape& shape);

}  // namespace hyfreedp::datasets
