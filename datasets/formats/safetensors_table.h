// Features of one's own and the class of each row, as a safetensors file
// (harness/base/safetensors_file.h) has them: the tensors `features` and `labels`.
#pragma once

#include <string>
#include <vector>

#include "datasets/formats/number_table.h"
#include "harness/base/result.h"

namespace hyfreedp::datasets {

// `features` is [n, p] of F16, BF16, F32 or F64, `labels` [n] of I8 to I64 or U8 to U64: a row is
// of class c where its number is labels[c]. Other tensors are passed over. Errors begin with the
// path: no safetensors file or a damaged one, a tensor that is not there, and those of
// number_array.h.
Result<NumberTable> read_safetensors_table(const std::string& path, const std::vector<double>& labels);

}  // namespace hyfreedp::datasets
