// Reads and writes safetensors files (https://github.com/huggingface/safetensors, format
// description), without LibTorch. The file is memory-mapped read-only; the tensors' values are
// parts of the mapping and keep it alive.
//
//   8 bytes    length n of the header, little endian, at most 100 MB
//   n bytes    JSON object: NAME -> {"dtype": D, "shape": [..], "data_offsets": [begin, end]};
//              "__metadata__" is an object of texts, or absent
//   the rest   data; offsets count from its start
//
// Every field is checked before it is used: the header's length against the file's, JSON types, a
// known dtype, a non-negative shape whose product does not overflow, begin <= end <= size of the
// data, end - begin equal to the shape's bytes. If a check fails, the whole file is refused by an
// error that names the tensor. Tensors may begin at any byte: not all programs that write such
// files pad the header, or order the tensors by the size of their elements.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/mapped_file.h"
#include "harness/base/result.h"
#include "harness/base/stored_tensor.h"

namespace hyfreedp {

// The tensors by name. dtypes: F64 F32 F16 BF16 I64 I32 I16 I8 U64 U32 U16 U8 BOOL.
Result<StoredTensors> read_stored_safetensors(const std::string& path);

// The same of a file's bytes, with its metadata. `where` begins messages.
struct StoredSafetensors {
  StoredTensors tensors;
  json::object metadata;  // empty where the file has none
};
Result<StoredSafetensors> parse_safetensors(const SharedBytes& bytes, const std::string& where);

// A tensor that is to be written; `values` is asked for when its turn comes, and let go after it.
struct UnwrittenTensor {
  ElementType type = ElementType::kF32;
  std::vector<std::int64_t> shape = {};
  std::function<SharedBytes()> values = {};
};
// Passes a file's bytes to `write` piece by piece, in order; an error of `write` is returned.
// Values of another size than the shape's are an invariant violation (it throws).
Result<void> serialize_safetensors(const std::map<std::string, UnwrittenTensor>& tensors,
                                   const json::object& metadata,
                                   const std::function<Result<void>(std::string_view piece)>& write);

// The type's name in safetensors: "F32".
std::string_view name_of(ElementType type);

}  // namespace hyfreedp
