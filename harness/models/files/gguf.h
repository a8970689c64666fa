// Reads GGUF files (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md), versions 2 and 3,
// little endian, without LibTorch.
//
//   "GGUF", version u32, number of tensors u64, number of values u64
//   each value    name, type u32, value: numbers, flags, texts (length u64, bytes), lists of these
//   each tensor   name, number of sizes u32, sizes u64 (the one that runs fastest first), type u32,
//                 offset u64
//   the rest      data from the next multiple of `general.alignment` (32) on, where offsets are 0
//
// Every field is checked before it is used: lengths and counts against the file, names against each
// other, sizes (1 to 4 of them, none 0) against overflow, offsets against the alignment and the
// data, which all tensors together do not exceed. The whole file is refused by an error that says
// what is wrong: another version or byte order, an unknown type of value, a list of lists, more
// than 2^22 items in lists, and a tensor of a type that is not read, by its name.
#pragma once

#include <map>
#include <string>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/base/stored_tensor.h"

namespace hyfreedp::models {

// F32, F16, BF16, or numbers in blocks of 32 that share a scale d, and Q4_1 a least value m, both
// float16: Q8_0 is d q, Q4_0 d (q - 8), Q4_1 d q + m.
enum class GgufType { kF32 = 0, kF16 = 1, kQ4_0 = 2, kQ4_1 = 3, kQ8_0 = 8, kBF16 = 30 };

struct GgufTensor {
  GgufType type = GgufType::kF32;
  std::vector<std::int64_t> shape = {};  // the last index runs fastest
  SharedBytes bytes = {};                // as the file has them
};

struct GgufFile {
  json::object values = {};
  std::map<std::string, GgufTensor> tensors = {};

  // Null where it is absent.
  json::value value(const std::string& name) const {
    const auto* found = values.if_contains(name);
    return found != nullptr ? *found : nullptr;
  }
};

Result<GgufFile> read_gguf(const std::string& path);
// The same of a file that lies in memory. `where` begins every error.
Result<GgufFile> parse_gguf(const SharedBytes& file, const std::string& where);

// float32 for numbers in blocks, else the file's own type.
ElementType element_type_of(GgufType type);
StoredTensor numbers_of(const GgufTensor& tensor);

}  // namespace hyfreedp::models
