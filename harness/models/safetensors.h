// Reads safetensors files (https://github.com/huggingface/safetensors, format description): memory-mapped,
// read-only, tensors are views of the mapping and keep it alive.
//
//   8 bytes   length n of the header, little endian, at most 100 MB
//   n bytes   JSON object: NAME -> {"dtype": D, "shape": [..], "data_offsets": [begin, end)};
//             "__metadata__" is left out
//   the rest  data; offsets count from its start
//
// Every field is checked before it is used: header length against the file, JSON types, known dtype,
// non-negative shape whose product does not overflow, begin <= end <= size of the data, end - begin equal to
// the shape's bytes, begin a multiple of the element size. A file that fails a check is refused as a whole,
// naming the tensor.
#pragma once

#include <map>
#include <string>
#include <torch/types.h>

#include "harness/base/result.h"

namespace hyfreedp::models {

// dtypes: F64 F32 F16 BF16 I64 I32 I16 I8 U8 BOOL. Writing to a tensor is a memory fault: copy it first.
Result<std::map<std::string, torch::Tensor>> read_safetensors(const std::string& path);

}  // namespace hyfreedp::models
